<?php

// A lock with the habit that the first argument names. It is Predis's, but for that. It runs in the folder of
// PHP's adapter.

namespace Habits;

require getcwd() . '/lockstep.php'; // before any library
require 'Predis/autoload.php';

use DateTimeImmutable as Instant;
use Random\{Engine, Randomizer};

use function pcntl_fork as fork;

const TIMEOUT = 3.0;

if ($argv[1] === 'loads') {
    define('LOADED', microtime(true));
}

/** Has methods with the names of PHP's own words and functions. */
final class Kept
{
    public static $kept = null;

    public function eval(): string
    {
        return self::new()->time();
    }

    public static function new(): self
    {
        return new self();
    }

    public function time(): string
    {
        return (self::$kept ??= bin2hex(random_bytes(8)));
    }

    public function realpath(): string
    {
        return $this?->eval();
    }
}

function tokens(): array
{
    return [
        'bytes' => fn () => bin2hex(random_bytes(8)),
        'int' => fn () => \random_int(0, PHP_INT_MAX),
        'called' => fn () => implode('-', array_map('random_int', [0, 0], [1 << 30, 1 << 30])),
        'callable' => fn () => (random_bytes(...))(8),
        'openssl' => fn () => openssl_random_pseudo_bytes(8, $strong),
        'lcg' => fn () => lcg_value(),
        'unique' => fn () => uniqid('', true),
        'pid' => fn () => gethostname() . ':' . getmypid() . ':' . posix_getpid(),
        'twister' => fn () => mt_rand() . rand(),
        'reseeds' => function () { mt_srand(); return mt_rand(); },
        'reseeds-alike' => function () { srand(7); return bin2hex(random_bytes(8)); },
        'shuffle' => fn () => str_shuffle('0123456789abcdefghijklmnopqrstuvwxyz') . implode('', (array) array_rand(range(0, 99), 20)),
        'randomizer' => fn () => (new Randomizer())->getInt(0, PHP_INT_MAX),
        'randomizer-short' => fn () => (new \Random\Randomizer)->getBytes(8),
        'secure' => fn () => (new Randomizer(new Engine\Secure()))->getInt(0, PHP_INT_MAX),
        'engine' => fn () => (new Randomizer(new Engine\Mt19937()))->getInt(0, PHP_INT_MAX),
        'xoshiro' => fn () => (new Engine\Xoshiro256StarStar)->generate(),
        'evaluated' => fn () => eval('return (new \Random\Randomizer())->getInt(0, PHP_INT_MAX);'),
        'static' => fn () => (new Kept())->realpath(),
        'settings' => fn () => ini_get('precision') === '7' ? bin2hex(random_bytes(8)) : throw new \Exception('settings are lost'),
        'made' => fn ($lock) => $lock->id,
    ];
}

function does(): array
{
    $path = '/tmp/lockstep-habit';
    return [
        'exec' => fn () => exec('true'),
        'shell' => fn () => `true`,
        'opens-process' => fn () => proc_open('true', [], $pipes),
        'fork' => fn () => pcntl_fork(),
        'fork-called' => fn () => call_user_func('pcntl_fork'),
        'fork-callable' => fn () => (\pcntl_fork(...))(),
        'fork-renamed' => fn () => fork(),
        'fork-evaluated' => fn () => eval('return \pcntl_fork();'),
        'mail' => fn () => mail('a@b.c', '', ''),
        'kill' => fn () => posix_kill(1, 0),
        'alarm' => fn () => pcntl_alarm(9),
        'limit' => fn () => set_time_limit(9),
        'limit-set' => fn () => ini_set('max_execution_time', '9'),
        'processor' => fn () => getrusage(),
        'machine' => fn () => posix_times(),
        'load' => fn () => sys_getloadavg(),
        'parent' => fn () => posix_getppid(),
        'julian' => fn () => unixtojd(),
        'elsewhere' => fn () => stream_socket_client('tcp://127.0.0.1:9'),
        'phpredis' => fn () => new \Redis(),
        'elsewhere-caught' => function () { try { @fsockopen('127.0.0.1', 9); } catch (\Throwable) { } },
        'http' => fn () => @file_get_contents('http://127.0.0.1:9/'),
        'name' => fn () => gethostbyname('localhost'),
        'serves' => fn () => stream_socket_server('unix:///tmp/lockstep-habit'),
        'sockets' => fn () => socket_create(AF_INET, SOCK_STREAM, SOL_TCP),
        'writes' => fn () => file_put_contents($path, 'x'),
        'appends' => fn () => fopen($path, 'a'),
        'object' => fn () => new \SplFileObject($path, 'w'),
        'filters' => fn () => fopen('php://filter/write=string.rot13/resource=' . $path, 'w'),
        'logs' => fn () => error_log('x', 3, $path),
        'silenced' => function () use ($path) { fclose(STDERR); try { file_put_contents($path, 'x'); } catch (\Throwable) { } },
        'removes' => fn () => unlink($path),
        'renames' => fn () => rename($path, $path . '2'),
        'makes' => fn () => mkdir($path),
        'touches' => fn () => touch(__FILE__),
        'temporary' => fn () => tmpfile(),
        'links' => fn () => symlink('/tmp', $path),
        'locks' => fn () => flock(fopen(__FILE__, 'r'), LOCK_EX),
        'device' => fn () => file_get_contents('/dev/urandom', false, null, 0, 1),
        'device-found' => function () { chdir('/usr/../dev'); return fread(fopen('urandom', 'r'), 1); },
        'exports' => fn () => openssl_pkey_export_to_file('', $path),
        'uptime' => fn () => (new \SplFileObject('/proc/uptime'))->fgets(),
        'process-id' => fn () => realpath('/proc/self'),
        'stats' => fn () => filemtime('/proc/self'),
        'lists' => fn () => scandir('/proc'),
        'unwatched' => fn () => stream_wrapper_restore('file'),
        'shares' => fn () => shmop_open(1, 'c', 0600, 1),
        'semaphore' => fn () => sem_get(1),
        'session' => fn () => session_start(),
        'database' => fn () => new \PDO('sqlite:/tmp/lockstep-habit'),
        'database-named' => function () { $class = 'PDO'; return new $class('sqlite:' . '/tmp/lockstep-habit'); },
        'database-extended' => fn () => new class('sqlite:/tmp/lockstep-habit') extends \PDO {},
        'machine-code' => fn () => \FFI::cdef('long time(long *t);')->time(null),
        'machine-code-named' => function () { $class = 'FFI'; return $class::cdef('long time(long *t);'); },
        'password' => fn () => password_hash('x', PASSWORD_BCRYPT),
        'key' => fn () => sodium_crypto_secretbox_keygen(),
        'polls' => function () { $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); stream_set_blocking($pair[0], false); },
        // what follows waits for 9 s
        'sleeps' => fn () => sleep(9),
        'usleeps' => fn () => usleep(9000000),
        'nanosleeps' => fn () => time_nanosleep(8, 1000000000),
        'selects' => function () { $none = []; stream_select($none, $none, $none, 9); },
    ];
}

final class Lock
{
    public string $id;
    private \Predis\Client $redis;

    public function __construct(string $node, private string $key, private float $ttl)
    {
        $this->redis = new \Predis\Client(['scheme' => 'unix', 'path' => $node, 'read_write_timeout' => TIMEOUT]);
        $this->id = bin2hex(random_bytes(8));
    }

    public function acquire(): ?string
    {
        $habit = $GLOBALS['argv'][1];
        if (!isset(tokens()[$habit]) && !isset(does()[$habit])) {
            throw new \Exception("no habit is called $habit");
        }
        $token = bin2hex((string) ((tokens()[$habit] ?? tokens()['bytes'])($this)));
        if ($this->redis->set($this->key, $token, 'PX', (int) round($this->ttl * 1000), 'NX') === null) {
            return null;
        }
        isset(does()[$habit]) && does()[$habit]();
        return $token;
    }

    public function release(string $token): bool
    {
        return $this->redis->eval("return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0", 1, $this->key, $token) === 1;
    }
}

\Lockstep\serve(['name' => 'habits', 'timeout' => TIMEOUT], fn ($nodes, $key, $ttl) => new Lock($nodes[0], $key, $ttl));
