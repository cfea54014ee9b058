<?php

// Makes a lock in PHP a client of Lockstep's simulated world: see docs/protocol.md.
//
//     require __DIR__ . '/lockstep.php'; // before any library
//
//     Lockstep\serve(['name' => 'my-lock', 'timeout' => 3.0], fn ($nodes, $key, $ttl) => new MyLock(...));
//
// A lock has acquire(), which returns the token if it is granted and null if it is refused;
// release($token), which returns false if the lock was not held any more; and, with 'extends' =>
// true, extend($token), which returns the same. Any exception is the failure of a call. $nodes
// are Unix sockets, spans are in seconds.
//
// The process forks for each execution (pcntl), so an execution finds everything as it is when
// serve is called, and nothing of another one. The clocks, the sleeps and all random numbers are
// the world's, and so is getmypid. What is random follows from the acquisition. Before the first
// execution there are none: a lock that reads a clock while it is loaded is refused.
//
// PHP lets no function be replaced, but it leaves out those of the setting disable_functions, and
// these can be defined anew. So this file starts PHP once more, with that setting, and has it read
// the lock. Classes, and the few functions that it needs itself, it replaces in the sources of the
// lock and its libraries as they are loaded.
//
// What the world can't follow ends the process, with the line: processes, signals that come after
// a time, the clocks of the processor, connections to other servers, reads that don't wait, files
// that are written or are another each time, memory that is shared, and all functions and classes
// of extensions that aren't in EXTENSIONS. Not covered are classes whose methods are called by a
// name that is a value, sources that come through a stream wrapper, and what was open before.

namespace Lockstep;

const CONTROL = 3; // the descriptor that Lockstep passes

/** The extensions whose functions and classes do nothing but what is stated here, or compute. */
const EXTENSIONS = ['bcmath', 'calendar', 'core', 'ctype', 'date', 'dom', 'exif', 'fileinfo', 'filter', 'gettext', 'gmp', 'hash', 'iconv',
    'igbinary', 'intl', 'json', 'libxml', 'lexbor', 'mbstring', 'msgpack', 'openssl', 'pcntl', 'pcre', 'posix', 'random', 'reflection',
    'simplexml', 'sodium', 'spl', 'standard', 'tokenizer', 'uri', 'xml', 'xmlreader', 'xmlwriter', 'xsl', 'zlib'];

const FILES = "it changes files, and the next execution would find them so";
const TIMED = "it has a signal come after a time, which doesn't pass here: give its calls a timeout";
const SHARED = "it keeps something outside of the process, where the next execution would find it";

/** Functions of EXTENSIONS that the world can't follow, and some of others, and why. */
const REFUSED = [
    'exec|shell_exec|system|passthru|popen|proc_\w+|mail|mb_send_mail|pcntl_(exec|rfork|forkx|unshare|setns)' => "it starts a process, which isn't in the world",
    'posix_kill|pcntl_setpriority|pcntl_setcpuaffinity' => "it acts on a process, which isn't in the world",
    'pcntl_(alarm|sigtimedwait|sigwaitinfo|setitimer)' => TIMED,
    'getrusage|gc_status' => "it reads the clock of the processor, which isn't the world's",
    'posix_times|unixtojd|easter_da\w+|intl(greg)?cal_\w+' => "it reads the clock of the machine, which isn't the world's",
    '(gm)?strftime' => 'it formats a time by strftime, which PHP gives up and the world lacks: use date',
    'sys_getloadavg|disk(_free_space|_total_space|freespace)|posix_get(ppid|pgrp|pgid|sid)|net_get_interfaces|realpath_cache_\w+|filter_input\w*'
        => "it reads the state of the machine, which isn't the same each time",
    'tempnam|tmpfile|symlink|link|lch\w+|posix_mk\w+|move_uploaded_file|openssl_\w+_to_file' => FILES,
    'session_\w+|apcu?_\w+|shm\w+|sem_\w+|msg_\w+|wincache_\w+|opcache_\w+|ftok' => SHARED,
    'gethostby\w+|dns_\w+|checkdnsrr|getmxrr' => "it asks a name server, which isn't in the world",
    'stream_socket_(server|accept|enable_crypto)' => 'it makes a connection that is none to one of the servers that it was given',
    'password_hash|gmp_random\w*|sodium_\w+(keygen|keypair|_str|box_seal|init_push|_random)|openssl_(pkey_new|sign|seal|public_encrypt|csr_sign|pkcs\w+|cms_\w+|dh_\w+)'
        => "it has random numbers drawn by C code, which aren't the world's: use random_bytes",
    'dl' => "it loads an extension, whose clocks, waits, files and connections can't be watched",
];

/** Classes of EXTENSIONS of which the same goes. */
const REFUSED_CLASSES = [
    'intl\w*calendar' => "it reads the clock of the machine, which isn't the world's",
    'redis\w*' => 'it uses phpredis, which waits, and connects anew, by C code and in real time: use Predis',
    'sessionhandler' => SHARED,
];

if (get_cfg_var('lockstep.watched') !== '1') {
    startAgain();
}

/** Serves executions of a lock until Lockstep ends. */
function serve(array $about, callable $make): void
{
    $hello = ['type' => 'hello', 'lockstep' => 1, 'lock' => $about['name'], 'library' => $about['library'] ?? '',
        'executions' => 'fork', 'servers' => $about['servers'] ?? 1, 'timeout' => (int) round($about['timeout'] * 1e6),
        'extends' => $about['extends'] ?? false, 'scripts' => $about['scripts'] ?? []];
    $stream = @fopen('php://fd/' . CONTROL, 'r+');
    if ($stream === false || (fstat($stream)['mode'] & 0170000) !== 0140000) { // it could be a file that PHP has opened
        quit('descriptor 3 is no control connection: start this program by lockstep run --exec or explore --exec');
    }
    $origin = new Control($stream);
    $origin->send($hello);
    pcntl_signal(SIGCHLD, SIG_IGN); // nobody waits for the forks
    while (true) {
        $path = $origin->receive()['path'];
        if (pcntl_fork() === 0) {
            fclose($stream);
            $control = new Control(stream_socket_client('unix://' . $path));
            $control->send($hello);
            Execution::run($control, $make);
        }
    }
}

/** Prints an error, also when the lock has closed STDERR. */
function say(string $text): void
{
    static $to = null;
    $to = $to ?? fopen('php://stderr', 'w');
    fwrite($to, $text);
}

/** Ends the process before it has served anything. */
function quit(string $why): void
{
    say($why . "\n");
    exit(1);
}

/** Ends the process: a lock that caught an exception would go on as it never does. */
function refuse(string $what): void
{
    foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $frame) {
        if (isset($frame['file']) && $frame['file'] !== __FILE__ && strpos($frame['file'], __FILE__ . '(') !== 0) {
            break;
        }
    }
    say("Error: $what\n  #0 " . ($frame['file'] ?? __FILE__) . '(' . ($frame['line'] ?? 0) . ")\n");
    exit(1);
}

/** The control connection: one JSON object a line. */
final class Control
{
    private $stream;

    /** @param resource $stream */
    public function __construct($stream)
    {
        $this->stream = $stream;
    }

    public function send(array $message): void
    {
        if (@fwrite($this->stream, json_encode($message, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE) . "\n") === false) {
            exit(0);
        }
    }

    public function receive(): array
    {
        do {
            $line = fgets($this->stream);
            if ($line === false) {
                exit(0); // the execution is over, or Lockstep is
            }
            $message = json_decode($line, true);
        } while ($message['type'] === 'timeout'); // the connection that ended has told it
        return $message;
    }

    public function ask(array $question): array
    {
        $this->send($question);
        return $this->receive();
    }
}

/** The execution that this process serves, if it serves one. */
final class Execution
{
    /** @var ?Control */
    private static $control = null;
    private static $nodes = [];
    private static $pid = 0;

    private static $seed = '';
    private static $pool = ''; // what was drawn and not used
    private static $drawn = 0;

    private static $asksForStart = false; // some source mentions the time of $_SERVER

    /** Serves one execution, until Lockstep ends it. */
    public static function run(Control $control, callable $make): void
    {
        self::$control = $control;
        $lock = null;
        while (true) {
            $m = $control->receive();
            try {
                switch ($m['type']) {
                    case 'begin':
                        self::begin($m);
                        $lock = $make($m['nodes'], $m['key'], $m['ttl'] / 1e6);
                        $answer = ['type' => 'begun'];
                        break;
                    case 'acquire':
                        self::seed($m['seed']);
                        $token = $lock->acquire();
                        $answer = $token === null ? ['type' => 'refused'] : ['type' => 'granted', 'token' => $token];
                        break;
                    case 'release':
                        $answer = ['type' => $lock->release($m['token']) === false ? 'not-held' : 'released'];
                        break;
                    case 'extend':
                        $answer = ['type' => $lock->extend($m['token']) === false ? 'not-held' : 'extended'];
                        break;
                }
            } catch (\Exception $e) {
                $answer = ['type' => 'failed', 'error' => get_class($e) . ': ' . self::named($e->getMessage())];
            }
            $control->send($answer);
        }
    }

    private static function begin(array $m): void
    {
        self::$nodes = $m['nodes'];
        self::seed('begin ' . ($m['seed'] ?? ''));
        self::$pid = 2 + World\random_int(0, (1 << 22) - 3);
        if (self::$asksForStart) {
            self::start();
        }
    }

    /** A text with the names of servers in the place of their sockets, which are others in each execution. */
    private static function named(string $text): string
    {
        foreach (self::$nodes as $i => $path) {
            $text = str_replace($path, 'n' . ($i + 1), $text);
        }
        return $text;
    }

    private static function seed(string $seed): void
    {
        [self::$seed, self::$pool, self::$drawn] = [$seed, '', 0];
        \mt_srand(crc32($seed)); // of what follows from mt_rand
    }

    /** A reading of a clock, in microseconds. */
    public static function clock(string $which): int
    {
        return self::world('it reads the clock while it is loaded, when the world has no time yet')->ask(['type' => 'clock', 'clock' => $which])['time'];
    }

    public static function sleep(float $seconds): void
    {
        if ($seconds < 0) {
            throw new \ValueError('a span to sleep must be greater than or equal to 0');
        }
        self::world('it waits while it is loaded, when the world has no time yet')->ask(['type' => 'sleep', 'span' => (int) round($seconds * 1e6)]);
    }

    /** Random bytes that follow from the seed. */
    public static function bytes(int $n): string
    {
        self::world('it draws random numbers while it is loaded, which all executions would have in common');
        while (strlen(self::$pool) < $n) {
            self::$pool .= hash('sha256', self::$drawn++ . ' ' . self::$seed, true);
        }
        $bytes = substr(self::$pool, 0, $n);
        self::$pool = substr(self::$pool, $n);
        return $bytes;
    }

    public static function pid(): int
    {
        self::world('it asks for the id of its process while it is loaded, which all executions would have in common');
        return self::$pid;
    }

    private static function world(string $otherwise): Control
    {
        if (self::$control === null) {
            refuse($otherwise);
        }
        return self::$control;
    }

    /** Whether there is an execution. Files may be written before, as all executions find them so. */
    public static function any(): bool
    {
        return self::$control !== null;
    }

    /** Refuses a connection to another server. */
    public static function connects(string $address): void
    {
        $path = strncmp($address, 'unix://', 7) === 0 ? substr($address, 7) : $address;
        if (!in_array($path, self::$nodes, true)) {
            refuse("it connects to $address, and not to one of the servers that it was given");
        }
    }

    /** Has $_SERVER say when the execution began, as some source mentions that. */
    public static function mentionsStart(): void
    {
        if (!self::$asksForStart && self::any()) {
            self::start();
        }
        self::$asksForStart = true;
    }

    private static function start(): void
    {
        $now = self::clock('wall');
        $_SERVER['REQUEST_TIME'] = intdiv($now, 1000000);
        $_SERVER['REQUEST_TIME_FLOAT'] = $now / 1e6;
    }
}

// PHP, started twice.

/** The names of this file's functions that stand for PHP's own, in a namespace. */
function replacements(string $namespace): array
{
    $prefix = strtolower(__NAMESPACE__ . '\\' . $namespace . '\\');
    $names = array_filter(get_defined_functions()['user'], function ($name) use ($prefix) { return strpos($name, $prefix) === 0; });
    return array_map(function ($name) use ($prefix) { return substr($name, strlen($prefix)); }, array_values($names));
}

/** Why a function or class is refused, if these patterns have it. */
function why(array $patterns, string $name): ?string
{
    foreach ($patterns as $pattern => $why) {
        if (preg_match("/^($pattern)$/i", $name)) {
            return $why;
        }
    }
    return null;
}

function unwatched(string $name): string
{
    return "it uses $name, whose clocks, waits, files and connections can't be watched";
}

/** Starts PHP once more, with the same settings, and without the functions that are replaced. */
function startAgain(): void
{
    $php = 'PHP ' . PHP_VERSION . ' (' . PHP_BINARY . ')';
    if (PHP_VERSION_ID < 80000) {
        quit("$php cannot have its clock replaced: use PHP 8.0 or later");
    }
    $off = preg_split('/[\s,]+/', strtolower(ini_get('disable_functions')), -1, PREG_SPLIT_NO_EMPTY);
    foreach (['pcntl_exec', 'pcntl_fork', 'pcntl_signal', 'token_get_all', 'stream_socket_client', 'stream_wrapper_register', 'stream_wrapper_unregister',
        'stream_wrapper_restore', 'stream_select', 'fopen', 'fwrite', 'fgets', 'mt_srand', 'debug_backtrace', 'get_cfg_var', 'ini_alter'] as $needed) {
        if (!function_exists($needed)) {
            quit("$php cannot run a lock without its function $needed: " . (in_array($needed, $off, true)
                ? 'disable_functions in ' . (php_ini_loaded_file() ?: 'its settings') . ' leaves it out' : 'install the extension that has it, pcntl or tokenizer'));
        }
    }
    $script = realpath($_SERVER['SCRIPT_FILENAME']);
    if (PHP_SAPI !== 'cli' || !is_file($_SERVER['SCRIPT_FILENAME']) || $script === __FILE__) {
        quit("$php cannot run a lock that isn't a file: start it as php LOCK.php, where LOCK.php requires " . basename(__FILE__));
    }
    foreach (get_defined_functions()['internal'] as $name) {
        $of = strtolower((new \ReflectionFunction($name))->getExtensionName());
        if (!in_array($of, EXTENSIONS, true) || why(REFUSED, $name) !== null) {
            $off[] = $name;
        }
    }
    $off = array_unique(array_merge($off, replacements('World')));
    $settings = ['lockstep.watched' => '1', 'disable_functions' => implode(',', $off), 'default_socket_timeout' => '-1', 'opcache.enable_cli' => '0',
        'auto_prepend_file' => '', 'lockstep.prepend' => ini_get('auto_prepend_file')];
    $words = flags();
    foreach ($settings as $name => $value) {
        array_push($words, '-d', $name . '="' . $value . '"');
    }
    pcntl_exec(PHP_BINARY, array_merge($words, [__FILE__, $script], array_slice($_SERVER['argv'], 1)));
    quit("$php cannot be started once more: " . pcntl_strerror(pcntl_get_last_error()));
}

/** The flags that PHP was started with, where the system tells. */
function flags(): array
{
    $line = @file_get_contents('/proc/self/cmdline');
    if (!$line) {
        return [];
    }
    $words = explode("\0", substr($line, 0, -1));
    $flags = array_slice($words, 1, count($words) - 1 - count($_SERVER['argv']));
    $script = preg_grep('/^(-f|--file$|--$)/', $flags); // php -f LOCK.php, php -- LOCK.php
    return $script ? array_slice($flags, 0, key($script)) : $flags;
}

/** Puts this file's functions in the place of PHP's, and has all sources pass through it. */
function watch(): void
{
    $world = replacements('World');
    $code = '';
    foreach (array_unique(array_merge($world, explode(',', ini_get('disable_functions')))) as $name) {
        if (function_exists($name)) {
            quit('PHP ' . PHP_VERSION . ' (' . PHP_BINARY . ") cannot have its function $name replaced: disable_functions doesn't leave it out");
        }
        if (in_array($name, $world, true)) {
            $code .= forward($name);
        } else {
            $code .= "function $name(...\$all) { \\Lockstep\\refuse(" . var_export(why(REFUSED, $name) ?? unwatched($name), true) . '); }';
        }
    }
    eval($code);
    Source::prepare();
    foreach (stream_get_wrappers() as $scheme) {
        if (!in_array($scheme, ['php', 'data', 'glob', 'compress.zlib'], true)) {
            stream_wrapper_unregister($scheme);
            stream_wrapper_register($scheme, $scheme === 'file' ? Files::class : Elsewhere::class);
        }
    }
    say(''); // it keeps a copy of STDERR
    \mt_srand(0);
    unset($_SERVER['REQUEST_TIME'], $_SERVER['REQUEST_TIME_FLOAT']);
    array_shift($_SERVER['argv']);
    $GLOBALS['argv'] = $_SERVER['argv'];
    $GLOBALS['argc'] = $_SERVER['argc'] = count($_SERVER['argv']);
    foreach (['SCRIPT_FILENAME', 'SCRIPT_NAME', 'PHP_SELF', 'PATH_TRANSLATED'] as $name) {
        $_SERVER[$name] = $_SERVER['argv'][0];
    }
}

/** The code of a function that calls the world's of the same name. */
function forward(string $name): string
{
    $takes = $gives = [];
    foreach ((new \ReflectionFunction('Lockstep\World\\' . $name))->getParameters() as $p) {
        $gives[] = '$' . $p->getName();
        $takes[] = ($p->isPassedByReference() ? '&' : '') . end($gives) . ($p->isOptional() ? ' = ' . var_export($p->getDefaultValue(), true) : '');
    }
    return "function $name(" . implode(', ', $takes) . ") { return \\Lockstep\\World\\$name(" . implode(', ', $gives) . '); }';
}

/** Files as the lock sees them: sources pass through Source, and an execution changes none. */
final class Files
{
    /** @var resource */
    public $context;

    private $stream;

    private static function really(callable $do)
    {
        stream_wrapper_restore('file');
        try {
            return $do();
        } finally {
            stream_wrapper_unregister('file');
            stream_wrapper_register('file', self::class);
        }
    }

    /** Refuses a path at which something else may be each time. */
    public static function reads(string $path): void
    {
        if (!Execution::any()) {
            return;
        }
        foreach ([preg_replace('#^file://#', '', $path), (string) \realpath($path)] as $named) {
            if (preg_match('#^/(dev|proc|sys)(/|$)(?!null$)#', $named)) {
                refuse("it reads $path, which isn't the same each time");
            }
        }
    }

    /** What is known of a file, but for when it was last read. */
    private static function unread($stat)
    {
        return is_array($stat) ? array_replace($stat, [8 => $stat[9], 'atime' => $stat['mtime']]) : $stat;
    }

    private static function changes(callable $do)
    {
        if (Execution::any()) {
            refuse(FILES);
        }
        return self::really($do);
    }

    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool
    {
        $including = 0x80;
        if (($options & $including) === 0 && Execution::any() && strpbrk($mode, 'waxc+') !== false && $path !== '/dev/null') {
            refuse("it writes to the file $path, where the next execution would find it");
        }
        self::reads($path);
        $search = ($options & STREAM_USE_PATH) !== 0;
        $this->stream = self::really(function () use ($path, $mode, $search) { return @fopen($path, $mode, $search); });
        if ($this->stream === false) {
            return false;
        }
        if (($options & $including) !== 0) {
            $opened = (string) (stream_resolve_include_path($path) ?: $path);
            $source = $opened === __FILE__ ? '<?php' : Source::world(stream_get_contents($this->stream));
            $this->stream = fopen('php://memory', 'r+');
            fwrite($this->stream, $source);
            rewind($this->stream);
        }
        return true;
    }

    public function stream_read(int $count)
    {
        return fread($this->stream, $count);
    }

    public function stream_write(string $data)
    {
        return fwrite($this->stream, $data);
    }

    public function stream_eof(): bool
    {
        return feof($this->stream);
    }

    public function stream_seek(int $offset, int $whence): bool
    {
        return fseek($this->stream, $offset, $whence) === 0;
    }

    public function stream_tell(): int
    {
        return ftell($this->stream);
    }

    public function stream_flush(): bool
    {
        return fflush($this->stream);
    }

    public function stream_truncate(int $size): bool
    {
        return ftruncate($this->stream, $size);
    }

    public function stream_stat()
    {
        return self::unread(fstat($this->stream));
    }

    public function stream_cast(int $as)
    {
        return $this->stream;
    }

    public function stream_set_option(int $option, int $a, ?int $b): bool
    {
        return false;
    }

    public function stream_lock(int $operation): bool
    {
        if (Execution::any()) {
            refuse("it locks a file, and the other executions aren't in its world");
        }
        return flock($this->stream, $operation);
    }

    public function stream_metadata(string $path, int $option, $value): bool
    {
        return self::changes(function () use ($path, $option, $value) {
            switch ($option) {
                case STREAM_META_TOUCH:
                    return touch($path, ...$value);
                case STREAM_META_ACCESS:
                    return chmod($path, $value);
                case STREAM_META_OWNER:
                case STREAM_META_OWNER_NAME:
                    return chown($path, $value);
                default:
                    return chgrp($path, $value);
            }
        });
    }

    public function url_stat(string $path, int $flags)
    {
        self::reads($path);
        return self::really(function () use ($path, $flags) { // stat itself would warn, which is an exception within SplFileObject
            $link = ($flags & STREAM_URL_STAT_LINK) !== 0;
            return self::unread($link && is_link($path) ? lstat($path) : (file_exists($path) ? stat($path) : false));
        });
    }

    public function unlink(string $path): bool
    {
        return self::changes(function () use ($path) { return unlink($path); });
    }

    public function rename(string $from, string $to): bool
    {
        return self::changes(function () use ($from, $to) { return rename($from, $to); });
    }

    public function mkdir(string $path, int $mode, int $options): bool
    {
        return self::changes(function () use ($path, $mode, $options) { return mkdir($path, $mode, ($options & STREAM_MKDIR_RECURSIVE) !== 0); });
    }

    public function rmdir(string $path, int $options): bool
    {
        return self::changes(function () use ($path) { return rmdir($path); });
    }

    public function dir_opendir(string $path, int $options): bool
    {
        self::reads($path);
        $this->stream = self::really(function () use ($path) { return @opendir($path); });
        return $this->stream !== false;
    }

    public function dir_readdir()
    {
        return readdir($this->stream);
    }

    public function dir_rewinddir(): bool
    {
        rewinddir($this->stream);
        return true;
    }

    public function dir_closedir(): bool
    {
        closedir($this->stream);
        return true;
    }
}

/** What isn't a file of this machine. */
final class Elsewhere
{
    /** @var resource */
    public $context;

    public function __call(string $name, array $all)
    {
        refuse("it opens {$all[0]}, which isn't in the world");
    }

    public function stream_open(string $path)
    {
        $this->__call('', [$path]);
    }

    public function url_stat(string $path)
    {
        $this->__call('', [$path]);
    }
}

/** The sources of the lock and its libraries, in which classes and a few functions are replaced. */
final class Source
{
    private static $guards = []; // functions, by their names in small letters
    private static $classes = []; // why is a text, or the class or the function in their place, by the same
    private static $mentions = ''; // a pattern that any source has that anything is replaced in

    private $tokens;
    private $namespace = '';
    private $imports = [];

    public static function prepare(): void
    {
        self::$guards = array_flip(replacements('Guard'));
        self::$classes = ['datetime' => '\Lockstep\DateTime', 'datetimeimmutable' => '\Lockstep\DateTimeImmutable',
            'reflectionclass' => '\Lockstep\ReflectionClass'];
        foreach (get_declared_classes() as $class) {
            $is = new \ReflectionClass($class);
            if (!$is->isInternal() || $is->implementsInterface('Throwable') || isset(self::$classes[strtolower($class)])) {
                continue;
            }
            $why = why(REFUSED_CLASSES, $class);
            if (!in_array(strtolower((string) $is->getExtensionName()), EXTENSIONS, true)) {
                $why = $why ?? unwatched($class);
            }
            if ($why !== null) {
                self::$classes[strtolower($class)] = ['refused' => $why];
            }
        }
        foreach (interface_exists('Random\Engine', false) ? replacements('Random') : [] as $name) {
            self::$classes[$name === 'randomizer' ? 'random\randomizer' : 'random\engine\\' . $name] = ['made' => '\Lockstep\Random\\' . $name];
        }
        $short = array_map(function ($name) { return preg_quote(preg_replace('/.*\\\\/', '', $name)); }, array_keys(self::$classes));
        self::$mentions = '/\b(' . implode('|', array_merge(array_keys(self::$guards), $short)) . '|request_time(_float)?)\b|\beval\b|\bnew\s*[$(]|\$\w+\s*::/i';
    }

    /** A source, with the world's functions and classes. Each line stays where it is. */
    public static function world(string $source): string
    {
        if (!preg_match(self::$mentions, $source)) {
            return $source;
        }
        try {
            return (new self($source))->replaced();
        } catch (\ParseError $e) {
            return $source; // PHP says so itself
        }
    }

    /** The code of an eval. */
    public static function evaluated($code): string
    {
        return substr(self::world("<?php\n" . $code), 6);
    }

    private function __construct(string $source)
    {
        $this->tokens = \PhpToken::tokenize($source, TOKEN_PARSE); // which knows eval, new and use for names of methods
    }

    private function replaced(): string
    {
        $names = [T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED];
        for ($i = 0; $i < count($this->tokens); $i++) {
            $token = $this->tokens[$i];
            if ($token->id === T_NAMESPACE) {
                $name = $this->near($i, 1);
                if ($name->is([T_STRING, T_NAME_QUALIFIED])) {
                    [$this->namespace, $this->imports] = [$name->text . '\\', []];
                } elseif ($name->text === '{') {
                    [$this->namespace, $this->imports] = ['', []];
                }
            } elseif ($token->id === T_USE) {
                $this->import($i);
            } elseif ($token->id === T_EVAL) {
                $this->wrap($i, 'eval(\Lockstep\Source::evaluated', ')');
            } elseif ($token->id === T_NEW) {
                $this->makes($i);
            } elseif ($token->id === T_VARIABLE && $this->near($i, 1)->is(T_DOUBLE_COLON)) {
                $this->asks($i);
            } elseif ($token->id === T_CONSTANT_ENCAPSED_STRING) {
                $this->text($i);
            } elseif ($token->is($names)) {
                $this->name($i);
            }
        }
        return implode('', array_column($this->tokens, 'text'));
    }

    /** The index of the next or last token that is neither space nor comment. */
    private function at(int $i, int $step): int
    {
        do {
            $i += $step;
        } while (isset($this->tokens[$i]) && $this->tokens[$i]->isIgnorable());
        return $i;
    }

    private function near(int $i, int $step): \PhpToken
    {
        return $this->tokens[$this->at($i, $step)] ?? new \PhpToken(0, '');
    }

    /** Notes the names that a use statement gives to classes. */
    private function import(int $i): void
    {
        for ($text = ''; isset($this->tokens[++$i]) && !in_array($this->tokens[$i]->text, [';', '('], true);) {
            $text .= $this->tokens[$i]->isIgnorable() ? ' ' : $this->tokens[$i]->text;
        }
        if (!preg_match('/^\s*([\w\\\\, ]+?)\s*(?:\{(.*)\}\s*)?$/s', $text, $m) || preg_match('/^\s*(function|const)\b/i', $text)) {
            return;
        }
        foreach (explode(',', $m[2] ?? $m[1]) as $part) {
            if (preg_match('/^\s*\\\\?([\w\\\\]+)(?:\s+as\s+(\w+))?\s*$/i', isset($m[2]) ? ltrim($m[1]) . trim($part) : $part, $n)) {
                $this->imports[strtolower($n[2] ?? preg_replace('/.*\\\\/', '', $n[1]))] = $n[1];
            }
        }
    }

    /** The class of a name, in small letters. */
    private function resolve(\PhpToken $name): string
    {
        if ($name->id === T_NAME_FULLY_QUALIFIED) {
            return strtolower(substr($name->text, 1));
        }
        [$first, $rest] = explode('\\', $name->text, 2) + [1 => null];
        $full = $this->imports[strtolower($first)] ?? $this->namespace . $first;
        return strtolower($rest === null ? $full : "$full\\$rest");
    }

    /** Replaces a name, of a function that is called or of a class that is made, extended or asked. */
    private function name(int $i): void
    {
        $token = $this->tokens[$i];
        $before = $this->near($i, -1);
        $after = $this->near($i, 1);
        if ($before->is(T_FUNCTION) && $this->near($this->at($i, -1), -1)->is(T_USE) && isset(self::$guards[strtolower(ltrim($token->text, '\\'))])) {
            $token->text = 'Lockstep\Guard\\' . ltrim($token->text, '\\'); // use function pcntl_fork as ...
            return;
        }
        if ($after->text === '(' && !$before->is([T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR, T_DOUBLE_COLON, T_FUNCTION, T_NEW])) {
            $name = strtolower(ltrim($token->text, '\\'));
            if (isset(self::$guards[$name])) {
                $token->text = '\Lockstep\Guard\\' . $name;
            }
            return;
        }
        $asked = $after->is(T_DOUBLE_COLON) && !$before->is([T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR, T_DOUBLE_COLON]);
        if (!$asked && !$before->is([T_NEW, T_EXTENDS])) {
            return;
        }
        $by = self::$classes[$this->resolve($token)] ?? null;
        if (is_string($by)) {
            $token->text = $by;
        } elseif (isset($by['refused'])) {
            $called = $asked && ($this->tokens[$this->at($this->at($this->at($i, 1), 1), 1)]->text ?? '') === '(';
            if ($called || !$asked) {
                $token->text = self::refused($this->resolve($token), $before->is(T_EXTENDS));
            }
        } elseif (isset($by['made']) && $before->is(T_NEW)) {
            $this->tokens[$this->at($i, -1)]->text = '';
            $token->text = $by['made'] . ($after->text === '(' ? '' : '()');
        }
    }

    /** The name of a class that ends the process when it is used. */
    private static function refused(string $class, bool $extended): string
    {
        $name = ($extended ? 'Extended\\' : 'Refused\\') . ucfirst(strtr($class, '\\', '_'));
        if (!class_exists('Lockstep\\' . $name, false)) {
            $why = var_export(self::$classes[$class]['refused'], true);
            $is = new \ReflectionClass($class);
            $parent = $extended && !$is->isFinal() && !$is->isAbstract() ? "extends \\$class" : '';
            eval('namespace Lockstep\\' . ($extended ? 'Extended' : 'Refused') . '; class ' . substr($name, strrpos($name, '\\') + 1) . " $parent {
                public function __construct(...\$all) { \\Lockstep\\refuse($why); }
                public static function __callStatic(\$name, \$all) { \\Lockstep\\refuse($why); }
            }");
        }
        return '\Lockstep\\' . $name;
    }

    /** Has a class be replaced whose name is a value: new $class(...). */
    private function makes(int $i): void
    {
        $from = $this->at($i, 1);
        if (($this->tokens[$from]->text ?? '') === '(') {
            $this->wrap($from - 1, null, ')');
            return;
        }
        if (!isset($this->tokens[$from]) || !$this->tokens[$from]->is(T_VARIABLE)) {
            return;
        }
        for ($to = $from, $depth = 0; isset($this->tokens[$to + 1]); $to++) {
            $next = $this->tokens[$to + 1]->text;
            $depth += ($next === '[' ? 1 : 0) - ($next === ']' ? 1 : 0);
            if ($depth < 0 || $depth === 0 && in_array($next, ['(', ')', ';', ',', '?', ':', '.', '}'], true) || $depth === 0 && $this->tokens[$to + 1]->isIgnorable()) {
                break;
            }
        }
        $this->tokens[$from]->text = '(\Lockstep\Source::named(' . $this->tokens[$from]->text;
        $this->tokens[$to]->text .= '))';
    }

    /** The same for $class::method(...). */
    private function asks(int $i): void
    {
        $name = $this->at($this->at($i, 1), 1);
        $alone = !$this->near($i, -1)->is([T_NEW, T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR, T_DOUBLE_COLON]) && $this->near($i, -1)->text !== '$';
        if ($alone && $this->tokens[$i]->text !== '$this' && isset($this->tokens[$name]) && $this->tokens[$name]->is(T_STRING) && $this->near($name, 1)->text === '(') {
            $this->tokens[$i]->text = '(\Lockstep\Source::named(' . $this->tokens[$i]->text . '))';
        }
    }

    /** The class in the place of one that is named by a value. */
    public static function named($class)
    {
        $by = is_string($class) ? self::$classes[strtolower(ltrim($class, '\\'))] ?? $class : $class;
        if (is_array($by)) {
            return isset($by['refused']) ? self::refused(strtolower(ltrim($class, '\\')), false)
                : refuse("it makes a $class by a name that is a value, whose random numbers aren't the world's: write new $class");
        }
        return $by;
    }

    /** Puts something about the parentheses that follow: in the place of a token, or within them. */
    private function wrap(int $i, ?string $instead, string $end): void
    {
        $open = $this->at($i, 1);
        if (($this->tokens[$open]->text ?? '') !== '(') {
            if ($instead !== null) { // eval without parentheses
                $this->tokens[$i]->text = 'eval \Lockstep\Source::evaluated(';
                for ($to = $open; isset($this->tokens[$to]) && $this->tokens[$to]->text !== ';'; $to++);
                $this->tokens[$to - 1]->text .= ')';
            }
            return;
        }
        for ($to = $open + 1, $depth = 1; isset($this->tokens[$to]); $to++) {
            $depth += ($this->tokens[$to]->text === '(' ? 1 : 0) - ($this->tokens[$to]->text === ')' ? 1 : 0);
            if ($depth === 0) {
                break;
            }
        }
        if ($instead !== null) {
            $this->tokens[$i]->text = $instead;
        } else {
            $this->tokens[$open]->text = '(\Lockstep\Source::named(';
        }
        if (isset($this->tokens[$to])) {
            $this->tokens[$to]->text .= $end;
        }
    }

    /** Replaces the name of a function that is a value, as in call_user_func('pcntl_fork'). */
    private function text(int $i): void
    {
        $token = $this->tokens[$i];
        $name = strtolower(ltrim(substr($token->text, 1, -1), '\\'));
        if ($name === 'request_time' || $name === 'request_time_float') {
            Execution::mentionsStart();
        }
        if (isset(self::$guards[$name]) && strpos($name, '_') !== false && !$this->near($i, 1)->is(T_DOUBLE_ARROW) && $this->near($i, -1)->text !== '[') {
            $token->text = "'\\Lockstep\\Guard\\$name'";
        }
    }
}

/** An instant in the time zone of the process. */
function at(?int $timestamp, ?string $zone = null): \DateTimeImmutable
{
    return (new \DateTimeImmutable('@' . ($timestamp ?? World\time())))->setTimezone(new \DateTimeZone($zone ?? date_default_timezone_get()));
}

/** The timestamp of a date and a time of day, with the parts that are null taken from the clock. */
function made(?string $zone, int $hour, ?int ...$parts): int
{
    $at = at(in_array(null, $parts, true) ? null : 0, $zone);
    foreach (['i', 's', 'n', 'j', 'Y'] as $i => $letter) {
        $parts[$i] = $parts[$i] ?? (int) $at->format($letter);
    }
    [$minute, $second, $month, $day, $year] = $parts;
    if ($year >= 0 && $year <= 100) {
        $year += $year < 70 ? 2000 : 1900;
    }
    return $at->setDate($year, $month, $day)->setTime($hour, $minute, $second)->getTimestamp();
}

/** Refuses to have the wrappers replaced by which files and addresses are watched. */
function keeps(string $protocol): bool
{
    if (in_array($protocol, ['file', 'http', 'https', 'ftp', 'ftps', 'phar'], true)) {
        refuse("it replaces the stream wrapper $protocol, by which its files are watched");
    }
    return true;
}

/**
 * An instant, as DateTime reads a text, with what that lacks taken from the world's clock; or, with
 * a time in its place, as strtotime does: what it takes of that is local, whatever zone the text is in.
 */
function instant(string $text, ?\DateTimeZone $zone, ?int $base = null): \DateTimeImmutable
{
    $zone = $zone ?? new \DateTimeZone(date_default_timezone_get());
    $text = trim($text) === '' ? 'now' : $text;
    $p = date_parse($text);
    if ($p['error_count'] > 0 || $p['year'] !== false && $p['month'] !== false && $p['day'] !== false) {
        return new \DateTimeImmutable($text, $zone); // it needs no clock, or fails
    }
    $in = isset($p['zone_type']) ? (new \DateTimeImmutable("2000-01-01 $text", $zone))->getTimezone() : $zone;
    $now = $base === null ? Execution::clock('wall') : $base * 1000000;
    $at = (new \DateTimeImmutable('@' . intdiv($now, 1000000)))->setTimezone($base === null ? $in : $zone);
    $at = $at->setTime((int) $at->format('H'), (int) $at->format('i'), (int) $at->format('s'), $now % 1000000);
    if ($base !== null && $in->getName() !== $zone->getName()) {
        $at = new \DateTimeImmutable($at->format('Y-m-d H:i:s.u'), $in);
    }
    if ($p['hour'] === false && ($p['year'] !== false || $p['month'] !== false || $p['day'] !== false)) {
        $at = $at->setTime(0, 0);
    }
    return $at->modify($text);
}

/** The same for a text in a format: format and text, with what they lack. */
function completed(string $format, string $text): array
{
    $plain = preg_replace('/\\\\./s', '', $format);
    if (strpbrk($plain, '!|U') !== false) {
        return [$format, $text];
    }
    $p = date_parse_from_format($format, $text);
    $lacks = '';
    foreach (['year' => 'Y-', 'month' => 'm-', 'day' => 'd '] as $part => $letter) {
        $lacks .= $p[$part] === false ? $letter : '';
    }
    if ($p['hour'] === false && $p['minute'] === false && $p['second'] === false && strpbrk($plain, 'uv') === false) {
        $lacks .= 'H:i:s.u ';
    }
    if ($lacks === '' || strpbrk($plain, 'zDl') !== false && $p['day'] !== false) {
        return [$format, $text];
    }
    $now = instant('', null);
    return [$lacks . $format, $now->format($lacks) . $text];
}

/** The constructor and the reading of a format, for both of PHP's classes. */
trait ReadsTheWorldsClock
{
    public function __construct($datetime = 'now', ?\DateTimeZone $timezone = null)
    {
        try {
            $at = instant((string) $datetime, $timezone);
        } catch (\Exception $e) {
            parent::__construct($datetime, $timezone); // whose exception it is
            return;
        }
        parent::__construct($at->format('Y-m-d\TH:i:s.u'), $at->getTimezone());
    }

    #[\ReturnTypeWillChange]
    public static function createFromFormat(string $format, string $datetime, ?\DateTimeZone $timezone = null)
    {
        return parent::createFromFormat(...array_merge(completed($format, $datetime), $timezone === null ? [] : [$timezone]));
    }
}

class DateTime extends \DateTime
{
    use ReadsTheWorldsClock;
}

class DateTimeImmutable extends \DateTimeImmutable
{
    use ReadsTheWorldsClock;
}

/** Makes the world's objects where a class is named by a value. */
class ReflectionClass extends \ReflectionClass
{
    public function __construct($objectOrClass)
    {
        parent::__construct(Source::named($objectOrClass));
    }
}

// Functions in the place of PHP's, which are left out: they have the names of those.

namespace Lockstep\World;

use Lockstep\Execution;
use Lockstep\Guard;

use function Lockstep\at;
use function Lockstep\instant;
use function Lockstep\made;
use function Lockstep\refuse;

function time(): int
{
    return intdiv(Execution::clock('wall'), 1000000);
}

function microtime(bool $as_float = false)
{
    $now = Execution::clock('wall');
    return $as_float ? $now / 1e6 : sprintf('0.%06d00 %d', $now % 1000000, intdiv($now, 1000000));
}

function hrtime(bool $as_number = false)
{
    $now = Execution::clock('monotonic');
    return $as_number ? $now * 1000 : [intdiv($now, 1000000), $now % 1000000 * 1000];
}

function gettimeofday(bool $as_float = false)
{
    $now = Execution::clock('wall');
    $at = at(intdiv($now, 1000000));
    return $as_float ? $now / 1e6 : ['sec' => intdiv($now, 1000000), 'usec' => $now % 1000000,
        'minuteswest' => -intdiv((int) $at->format('Z'), 60), 'dsttime' => (int) $at->format('I')];
}

function date(string $format, ?int $timestamp = null): string
{
    return at($timestamp)->format($format);
}

function gmdate(string $format, ?int $timestamp = null): string
{
    return at($timestamp, 'UTC')->format(preg_replace('/\\\\.(*SKIP)(*FAIL)|T/s', '\G\M\T', $format));
}

function idate(string $format, ?int $timestamp = null): int
{
    return (int) at($timestamp)->format($format);
}

function getdate(?int $timestamp = null): array
{
    $at = at($timestamp);
    $all = [];
    foreach (['seconds' => 's', 'minutes' => 'i', 'hours' => 'G', 'mday' => 'j', 'wday' => 'w', 'mon' => 'n', 'year' => 'Y', 'yday' => 'z'] as $name => $letter) {
        $all[$name] = (int) $at->format($letter);
    }
    return $all + ['weekday' => $at->format('l'), 'month' => $at->format('F'), 0 => $at->getTimestamp()];
}

function localtime(?int $timestamp = null, bool $associative = false): array
{
    $at = at($timestamp);
    $all = array_map(function ($letter) use ($at) { return (int) $at->format($letter); }, ['s', 'i', 'G', 'j', 'n', 'Y', 'w', 'z', 'I']);
    $all[4] -= 1;
    $all[5] -= 1900;
    $names = ['tm_sec', 'tm_min', 'tm_hour', 'tm_mday', 'tm_mon', 'tm_year', 'tm_wday', 'tm_yday', 'tm_isdst'];
    return $associative ? array_combine($names, $all) : $all;
}

function mktime(int $hour, ?int $minute = null, ?int $second = null, ?int $month = null, ?int $day = null, ?int $year = null)
{
    return made(null, $hour, $minute, $second, $month, $day, $year);
}

function gmmktime(int $hour, ?int $minute = null, ?int $second = null, ?int $month = null, ?int $day = null, ?int $year = null)
{
    return made('UTC', $hour, $minute, $second, $month, $day, $year);
}

function strtotime($datetime, ?int $baseTimestamp = null)
{
    try {
        return (string) $datetime === '' ? false : instant($datetime, null, $baseTimestamp ?? time())->getTimestamp();
    } catch (\Exception $e) {
        return false;
    }
}

function date_create($datetime = 'now', ?\DateTimeZone $timezone = null)
{
    try {
        return new \Lockstep\DateTime($datetime, $timezone);
    } catch (\Exception $e) {
        return false;
    }
}

function date_create_immutable($datetime = 'now', ?\DateTimeZone $timezone = null)
{
    try {
        return new \Lockstep\DateTimeImmutable($datetime, $timezone);
    } catch (\Exception $e) {
        return false;
    }
}

function date_create_from_format(string $format, string $datetime, ?\DateTimeZone $timezone = null)
{
    return \Lockstep\DateTime::createFromFormat($format, $datetime, $timezone);
}

function date_create_immutable_from_format(string $format, string $datetime, ?\DateTimeZone $timezone = null)
{
    return \Lockstep\DateTimeImmutable::createFromFormat($format, $datetime, $timezone);
}

function sleep(int $seconds): int
{
    Execution::sleep($seconds);
    return 0;
}

function usleep(int $microseconds): void
{
    Execution::sleep($microseconds / 1e6);
}

function time_nanosleep(int $seconds, int $nanoseconds)
{
    Execution::sleep($seconds + $nanoseconds / 1e9);
    return true;
}

function time_sleep_until(float $timestamp): bool
{
    $left = $timestamp - microtime(true);
    if ($left <= 0) {
        return false;
    }
    Execution::sleep($left);
    return true;
}

function set_time_limit(int $seconds): bool
{
    if ($seconds > 0) {
        refuse(\Lockstep\TIMED);
    }
    return true;
}

function random_bytes(int $length): string
{
    return Execution::bytes($length);
}

function random_int(int $min, int $max): int
{
    if ($min > $max) {
        throw new \ValueError('random_int(): Argument #1 ($min) must be less than or equal to argument #2 ($max)');
    }
    $span = $max - $min + 1;
    do {
        $n = unpack('J', random_bytes(8))[1];
        $n = is_int($span) ? $min + ($n & PHP_INT_MAX) % $span : $n;
    } while ($n < $min || $n > $max);
    return $n;
}

function openssl_random_pseudo_bytes(int $length, &$strong_result = null): string
{
    $strong_result = true;
    return random_bytes($length);
}

function lcg_value(): float
{
    return random_int(0, (1 << 53) - 1) / (1 << 53);
}

function uniqid(string $prefix = '', bool $more_entropy = false): string
{
    static $last = 0;
    while (($now = Execution::clock('wall')) === $last) {
        Execution::sleep(1e-6);
    }
    $last = $now;
    return sprintf('%s%08x%05x', $prefix, intdiv($now, 1000000), $now % 1000000) . ($more_entropy ? sprintf('%.8F', lcg_value() * 10) : '');
}

function getmypid(): int
{
    return Execution::pid();
}

function posix_getpid(): int
{
    return Execution::pid();
}

function fsockopen(string $hostname, int $port = -1, &$error_code = null, &$error_message = null, ?float $timeout = null)
{
    return Guard\stream_socket_client($port > 0 ? "$hostname:$port" : $hostname, $error_code, $error_message);
}

function pfsockopen(string $hostname, int $port = -1, &$error_code = null, &$error_message = null, ?float $timeout = null)
{
    return fsockopen($hostname, $port, $error_code, $error_message);
}

/** A reply may take as long as the world takes. If none comes the connection ends. */
function stream_set_timeout($stream, int $seconds, int $microseconds = 0): bool
{
    return true;
}

function socket_set_timeout($stream, int $seconds, int $microseconds = 0): bool
{
    return true;
}

function stream_set_blocking($stream, bool $enable): bool
{
    if (!$enable) {
        refuse("it reads without waiting, so that what it finds depends on real time: use the library's synchronous client");
    }
    return true;
}

function socket_set_blocking($stream, bool $enable): bool
{
    return stream_set_blocking($stream, $enable);
}

function ini_set(string $option, $value)
{
    return Guard\ini_alter($option, $value);
}

function srand(?int $seed = null, int $mode = MT_RAND_MT19937): void
{
    Guard\mt_srand($seed, $mode);
}

// Functions in the place of PHP's that this file needs itself.

namespace Lockstep\Guard;

use Lockstep\Execution;
use Lockstep\Files;
use Lockstep\Source;

use function Lockstep\keeps;
use function Lockstep\refuse;

function pcntl_fork(): int
{
    return refuse("it starts a process, which isn't in the world");
}

function stream_socket_client(string $address, &$error_code = null, &$error_message = null, ?float $timeout = null, int $flags = STREAM_CLIENT_CONNECT, $context = null)
{
    Execution::connects($address);
    return \stream_socket_client($address, $error_code, $error_message, null, STREAM_CLIENT_CONNECT, ...($context === null ? [] : [$context]));
}

/** Waits for no connection: the time passes. For one it waits as long as the world takes. */
function stream_select(?array &$read, ?array &$write, ?array &$except, ?int $seconds, ?int $microseconds = null)
{
    if ($read || $write || $except) {
        $wait = $seconds === null || $seconds + ($microseconds ?? 0) > 0 ? null : 0;
        return \stream_select($read, $write, $except, $wait);
    }
    if ($seconds === null) {
        throw new \ValueError('No stream arrays were passed');
    }
    Execution::sleep($seconds + ($microseconds ?? 0) / 1e6);
    return 0;
}

function mt_srand(?int $seed = null, int $mode = MT_RAND_MT19937): void
{
    \mt_srand($seed ?? \Lockstep\World\random_int(0, 0xffffffff), $mode);
}

function realpath(string $path)
{
    Files::reads($path);
    return \realpath($path);
}

function readlink(string $path)
{
    Files::reads($path);
    return \readlink($path);
}

function glob(string $pattern, int $flags = 0)
{
    Files::reads($pattern);
    return \glob($pattern, $flags);
}

function class_alias(string $class, string $alias, bool $autoload = true): bool
{
    return \class_alias(Source::named($class), $alias, $autoload);
}

function ini_alter(string $option, $value)
{
    switch (strtolower($option)) {
        case 'default_socket_timeout':
            return '-1'; // see stream_set_timeout
        case 'error_log':
            return Execution::any() ? refuse(\Lockstep\FILES) : \ini_alter($option, $value);
        case 'max_execution_time':
            \Lockstep\World\set_time_limit((int) $value);
    }
    return \ini_alter($option, $value);
}

function stream_wrapper_unregister(string $protocol): bool
{
    return keeps($protocol) && \stream_wrapper_unregister($protocol);
}

function stream_wrapper_restore(string $protocol): bool
{
    return keeps($protocol) && \stream_wrapper_restore($protocol);
}

// What stands for a new object of PHP's class Random\Randomizer or of an engine of its.

namespace Lockstep\Random;

use function Lockstep\World\random_bytes;
use function Lockstep\World\random_int;

if (interface_exists('Random\Engine', false)) {
    /** An engine that goes by the acquisition. */
    final class Engine implements \Random\CryptoSafeEngine
    {
        public function generate(): string
        {
            return random_bytes(8);
        }
    }
}

function randomizer($engine = null)
{
    return new \Random\Randomizer($engine ?? new Engine());
}

function secure()
{
    return new Engine();
}

function mt19937($seed = null, $mode = MT_RAND_MT19937)
{
    return new \Random\Engine\Mt19937($seed ?? random_int(0, 0xffffffff), $mode);
}

function pcgoneseq128xslrr64($seed = null)
{
    return new \Random\Engine\PcgOneseq128XslRr64($seed ?? random_bytes(16));
}

function xoshiro256starstar($seed = null)
{
    return new \Random\Engine\Xoshiro256StarStar($seed ?? random_bytes(32));
}

// The lock, in the place of this file.

namespace Lockstep;

watch();
if (get_cfg_var('lockstep.prepend') !== '') {
    require get_cfg_var('lockstep.prepend');
}
require $argv[0];
