<?php

// A lock that fails unless all of PHP's clocks agree, time passes for whoever waits, and dates are what PHP
// itself makes of the same instants: without an argument, this prints what it does.

namespace Clocks;

use DateTime;
use DateTimeImmutable as Instant;

const ZONES = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe'];

const BASES = [0, 951827696, 1709210096, 1711846800, 1729990800, 4102444799];

const TEXTS = ['now', '', ' ', 'today', 'midnight', 'noon', 'tomorrow', 'yesterday noon', '+1 day', '-1 week 2 days 4 hours 2 seconds', 'monday',
    'last monday', 'next month', 'first day of next month', 'last day of february', 'monday next week', '10:00', '10:00:30.5', '10 September',
    'January', '10 September 2000', '2000-02-29', '2000-02-29 12:34:56.789', '@86400', '@86400.5', 'now UTC', '10:00 Europe/Paris',
    '10:00 +0300', 'tomorrow EST', '2024W051', '2024-060', 'third friday of january 2030', '+2 weekdays', 'no such time', '2000-02-30', '24:00', 'back of 7pm'];

const LETTERS = 'd D j l N S w z W F m M n t L o Y y a A B g G h H i s u v e I O P p T Z c r U';

/** What PHP makes of instants, as text: all of it is the same by the world's functions. */
function made(): string
{
    $all = [];
    foreach (ZONES as $zone) {
        date_default_timezone_set($zone);
        foreach (BASES as $base) {
            foreach (TEXTS as $text) {
                $all["$zone $base $text"] = strtotime($text, $base);
            }
            $all["$zone $base"] = [date(LETTERS, $base), gmdate(LETTERS, $base), idate('z', $base), idate('y', $base), idate('B', $base),
                getdate($base), localtime($base), localtime($base, true)];
        }
        foreach (['2024-03-31 02:30', '2000-02-29', 'no such time', '@5', '10 September 2000 10:00 EST'] as $text) {
            $made = date_create($text);
            $all["$zone made $text"] = $made ? $made->format('c e') : false;
        }
        $all["$zone mktime"] = [mktime(25, 61, 61, 13, 32, 1999), mktime(0, 0, 0, 1, 1, 69), mktime(0, 0, 0, 1, 1, 70), gmmktime(1, 2, 3, 4, 5, 100)];
        $all["$zone format"] = array_map(fn ($read) => $read ? $read->format('c e u') : false, [
            DateTime::createFromFormat('Y-m-d H:i:s', '2001-02-03 04:05:06'), Instant::createFromFormat('!d/m/Y', '15/08/2005'),
            date_create_from_format('U.u', '5.25'), date_create_from_format('Y-m-d', 'no date'), DateTime::createFromFormat('Y-m-d|', '2001-02-03', new \DateTimeZone('UTC')),
            date_create_immutable_from_format('Y-m-d H', '2001-02-03 04'),
        ]);
        $all["$zone exception"] = exception('no such time');
    }
    date_default_timezone_set('Europe/Berlin');
    return hash('sha256', json_encode($all, JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR));
}

function exception(string $text): string
{
    try {
        return (new DateTime($text))->format('c');
    } catch (\Exception $e) {
        return get_class($e);
    }
}

if (!isset($argv[1])) {
    echo made();
    exit;
}

require getcwd() . '/lockstep.php'; // before any library, and after what isn't the world's

class Extended extends \DateTimeImmutable
{
}

final class Lock
{
    private $redis;

    public function __construct(string $node, private string $key)
    {
        $this->redis = stream_socket_client('unix://' . $node);
    }

    public function acquire(): ?string
    {
        if (made() !== $GLOBALS['argv'][1]) {
            throw new \Exception('dates are other ones by the world\'s functions');
        }
        $wall = microtime(true);
        foreach ($this->readings() as $name => $reads) {
            $other = $reads();
            if (abs($other - $wall) > 1.1) {
                throw new \Exception("$name says " . var_export($other, true) . " and microtime " . var_export($wall, true));
            }
        }
        foreach ($this->waits() as $name => $wait) {
            $before = hrtime(true);
            $wait();
            if (abs(hrtime(true) - $before - 250e6 - ($name === 'sleep' ? 750e6 : 0)) > 1e6) {
                throw new \Exception("$name has waited for " . (hrtime(true) - $before));
            }
        }
        fwrite($this->redis, "*6\r\n\$3\r\nSET\r\n\$4\r\nlock\r\n\$1\r\nx\r\n\$2\r\nNX\r\n\$2\r\nPX\r\n\$5\r\n10000\r\n");
        return fgets($this->redis) === "+OK\r\n" ? 'x' : null;
    }

    private function readings(): array
    {
        $dynamic = 'DateTimeImmutable';
        return [
            'time' => fn () => time(),
            'called time' => fn () => call_user_func('time'),
            'microtime' => fn () => array_sum(explode(' ', microtime())),
            'gettimeofday' => fn () => gettimeofday(true),
            'gettimeofday, parts' => fn () => gettimeofday()['sec'],
            'hrtime, parts' => fn () => hrtime()[0] + hrtime()[1] / 1e9 - hrtime(true) / 1e9 + time(),
            'date' => fn () => (int) date('U'),
            'gmdate' => fn () => strtotime(gmdate('Y-m-d H:i:s') . ' UTC'),
            'idate' => fn () => idate('U'),
            'getdate' => fn () => getdate()[0],
            'localtime' => fn () => mktime(localtime()[2], localtime()[1], localtime()[0], localtime()[4] + 1, localtime()[3], localtime()[5] + 1900),
            'mktime' => fn () => mktime((int) date('H'), (int) date('i')),
            'gmmktime' => fn () => gmmktime((int) gmdate('H'), null, null, (int) gmdate('n')),
            'strtotime' => fn () => strtotime('now'),
            'strtotime, tomorrow' => fn () => strtotime('tomorrow +1 hour') - mktime(0, 0, 0, (int) date('n'), (int) date('j') + 1) - 3600 + time(),
            'new DateTime' => fn () => (float) (new DateTime())->format('U.u'),
            'new DateTime in a zone' => fn () => (float) (new DateTime('now', new \DateTimeZone('Asia/Tokyo')))->format('U.u'),
            'an imported name' => fn () => (float) (new Instant)->format('U.u'),
            'a full name' => fn () => (new \DateTimeImmutable('+0 seconds'))->getTimestamp(),
            'a name that is a value' => fn () => (new $dynamic())->getTimestamp(),
            'a name in parentheses' => fn () => (new ('Date' . 'Time'))->getTimestamp(),
            'a name of a class' => fn () => (new (Instant::class)('now'))->getTimestamp(),
            'a subclass' => fn () => (new Extended())->getTimestamp(),
            'a class without a name' => fn () => (new class extends DateTime {})->getTimestamp(),
            'a static method of a name that is a value' => fn () => $dynamic::createFromFormat('H:i:s', date('H:i:s'))->getTimestamp(),
            'reflected' => fn () => (new \ReflectionClass('DateTime'))->newInstance('now')->getTimestamp(),
            'an alias' => fn () => class_exists('Clocks\Alias') || class_alias('DateTimeImmutable', 'Clocks\Alias') ? (new Alias())->getTimestamp() : 0,
            'null' => fn () => @(new DateTime(null))->getTimestamp(),
            'nothing' => fn () => (new DateTime(''))->getTimestamp(),
            'evaluated' => fn () => eval('return (new \DateTime)->getTimestamp();'),
            'date_create' => fn () => date_create()->getTimestamp(),
            'date_create_immutable' => fn () => date_create_immutable('now')->getTimestamp(),
            'a format without a date' => fn () => DateTime::createFromFormat('H:i:s', date('H:i:s'))->getTimestamp(),
            'a format without a time' => fn () => Instant::createFromFormat('Y-m-d', date('Y-m-d'))->getTimestamp(),
            'a format without a year' => fn () => date_create_from_format('m-d H:i:s', date('m-d H:i:s'))->getTimestamp(),
            'REQUEST_TIME' => fn () => $_SERVER['REQUEST_TIME'] + hrtime(true) / 1e9 - STARTED,
            'REQUEST_TIME_FLOAT' => fn () => $_SERVER['REQUEST_TIME_FLOAT'] + hrtime(true) / 1e9 - STARTED,
            'uniqid' => fn () => hexdec(substr(uniqid(), 0, 8)),
        ];
    }

    private function waits(): array
    {
        return [
            'sleep' => fn () => sleep(1),
            'usleep' => fn () => usleep(250000),
            'time_nanosleep' => fn () => time_nanosleep(0, 250000000),
            'time_sleep_until' => fn () => time_sleep_until(microtime(true) + 0.25),
            'stream_select' => function () { $none = null; stream_select($none, $none, $none, 0, 250000); },
        ];
    }

    public function release(string $token): bool
    {
        fwrite($this->redis, "*2\r\n\$3\r\nDEL\r\n\$4\r\nlock\r\n");
        return fgets($this->redis) === ":1\r\n";
    }
}

\Lockstep\serve(['name' => 'clocks', 'timeout' => 3.0], function ($nodes, $key) {
    define('Clocks\STARTED', hrtime(true) / 1e9);
    return new Lock($nodes[0], $key);
});
