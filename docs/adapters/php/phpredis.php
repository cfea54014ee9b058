<?php

// A lock with phpredis on one server: SET NX PX, and a script that compares and deletes.

require __DIR__ . '/lockstep.php';

const TIMEOUT = 3.0;

const COMPARE_AND_DELETE = <<<'LUA'
    if redis.call('get', KEYS[1]) == ARGV[1] then
        return redis.call('del', KEYS[1])
    end
    return 0
    LUA;

final class PhpRedisLock
{
    private Redis $redis;

    public function __construct(string $node, private string $key, private float $ttl)
    {
        $this->redis = new Redis();
        $this->redis->connect($node, 0, TIMEOUT);
        $this->redis->setOption(Redis::OPT_READ_TIMEOUT, TIMEOUT);
    }

    public function acquire(): ?string
    {
        $token = bin2hex(random_bytes(16));
        return $this->redis->set($this->key, $token, ['NX', 'PX' => (int) round($this->ttl * 1000)]) ? $token : null;
    }

    public function release(string $token): bool
    {
        return $this->redis->eval(COMPARE_AND_DELETE, [$this->key, $token], 1) === 1;
    }
}

Lockstep\serve(['name' => 'phpredis', 'library' => 'phpredis ' . phpversion('redis'), 'timeout' => TIMEOUT],
    fn ($nodes, $key, $ttl) => new PhpRedisLock($nodes[0], $key, $ttl));
