<?php

// Makes a lock in PHP a client of Lockstep's simulated world: see docs/protocol.md.
//
//     require __DIR__ . '/lockstep.php';
//
//     Lockstep\serve(['name' => 'my-lock', 'timeout' => 3.0], fn ($nodes, $key, $ttl, $world) => new MyLock(...));
//
// A lock has acquire(), which returns the token if it is granted and null if it is refused;
// release($token), which returns false if the lock was not held any more; and, with 'extends' =>
// true, extend($token), which returns the same. Any exception is the failure of a call. $nodes
// are Unix sockets, spans are in seconds.
//
// The process forks for each execution (pcntl), so an execution finds everything as it is when
// serve is called, and nothing of another one. PHP's clocks and sleeps can't be replaced: a lock
// takes them from $world, which has microtime(), hrtime() and sleep($seconds). mt_rand,
// and what follows from it, is seeded; random_bytes is not: take $world->bytes($n).

namespace Lockstep;

const CONTROL = 3; // the descriptor that Lockstep passes

/** Serves executions of a lock until Lockstep ends. */
function serve(array $about, callable $make): void
{
    $hello = ['type' => 'hello', 'lockstep' => 1, 'lock' => $about['name'], 'library' => $about['library'] ?? '',
        'executions' => 'fork', 'servers' => $about['servers'] ?? 1, 'timeout' => (int) round($about['timeout'] * 1e6),
        'extends' => $about['extends'] ?? false, 'scripts' => $about['scripts'] ?? []];
    $stream = @fopen('php://fd/' . CONTROL, 'r+');
    if ($stream === false) {
        fwrite(STDERR, "descriptor 3 is no control connection: start this program by lockstep run --exec or explore --exec\n");
        exit(1);
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
            execute($control, $make);
        }
    }
}

/** Serves one execution, until Lockstep ends it. */
function execute(Control $control, callable $make): never
{
    $world = new World($control);
    mt_srand(0);
    $lock = null;
    while (true) {
        $m = $control->receive();
        try {
            switch ($m['type']) {
                case 'begin':
                    mt_srand(crc32('begin ' . ($m['seed'] ?? '')));
                    $lock = $make($m['nodes'], $m['key'], $m['ttl'] / 1e6, $world);
                    $answer = ['type' => 'begun'];
                    break;
                case 'acquire':
                    mt_srand(crc32($m['seed']));
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
            $answer = ['type' => 'failed', 'error' => get_class($e) . ': ' . $e->getMessage()];
        }
        $control->send($answer);
    }
}

/** The control connection: one JSON object a line. */
final class Control
{
    /** @param resource $stream */
    public function __construct(private $stream)
    {
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

/** The time and the random numbers of the simulated world. */
final class World
{
    public function __construct(private Control $control)
    {
    }

    /** Seconds since 1970. */
    public function microtime(): float
    {
        return $this->control->ask(['type' => 'clock', 'clock' => 'wall'])['time'] / 1e6;
    }

    /** Nanoseconds on the monotonic clock. */
    public function hrtime(): int
    {
        return $this->control->ask(['type' => 'clock', 'clock' => 'monotonic'])['time'] * 1000;
    }

    public function sleep(float $seconds): void
    {
        $this->control->ask(['type' => 'sleep', 'span' => (int) round($seconds * 1e6)]);
    }

    public function bytes(int $n): string
    {
        for ($bytes = ''; strlen($bytes) < $n;) {
            $bytes .= chr(mt_rand(0, 255));
        }
        return $bytes;
    }
}
