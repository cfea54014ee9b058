<?php

// A lock with Predis on one server: SET NX PX, and a script that compares and deletes.

require __DIR__ . '/lockstep.php';
require 'Predis/autoload.php';

const TIMEOUT = 3.0;

const COMPARE_AND_DELETE = <<<'LUA'
    if redis.call('get', KEYS[1]) == ARGV[1] then
        return redis.call('del', KEYS[1])
    end
    return 0
    LUA;

final class PredisLock
{
    private Predis\Client $redis;

    public function __construct(string $node, private string $key, private float $ttl)
    {
        $this->redis = new Predis\Client(['scheme' => 'unix', 'path' => $node, 'timeout' => TIMEOUT, 'read_write_timeout' => TIMEOUT]);
    }

    public function acquire(): ?string
    {
        $token = bin2hex(random_bytes(16));
        $stored = $this->redis->set($this->key, $token, 'PX', (int) round($this->ttl * 1000), 'NX');
        return $stored === null ? null : $token;
    }

    public function release(string $token): bool
    {
        return $this->redis->eval(COMPARE_AND_DELETE, 1, $this->key, $token) === 1;
    }
}

Lockstep\serve(['name' => 'predis', 'library' => 'Predis ' . Predis\Client::VERSION, 'timeout' => TIMEOUT],
    fn ($nodes, $key, $ttl) => new PredisLock($nodes[0], $key, $ttl));
