#!/usr/bin/env python3
"""Commands on large values in a full cache of 16 MB, and the CPU time of a SET in a full cache of 128 MB.

  experiments/full-cache.py keys NAME=LAUNCHER...        how many of ten tries answer as Redis does
  experiments/full-cache.py cpu [--rounds N] NAME=LAUNCHER...
                                                         server's CPU time for a SET; needs redis-benchmark

A launcher is the `varve` of a checkout that is built. The first core is the server's, the second the generator's.
"""
import os
import re
import socket
import statistics
import subprocess
import sys

POLICIES = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-random']
OPERATIONS = ['APPEND', 'RENAME', 'RPUSH', 'DUMP', 'COPY']
SIZES = [10_000, 50_000, 200_000, 500_000, 1_000_000, 2_500_000, 5_000_000]
TRIES = 10
FILLERS = 18_000
REQUESTS = 2_500_000


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile('rb')

    @staticmethod
    def encode(words):
        parts = [b'*%d\r\n' % len(words)]
        for word in words:
            if not isinstance(word, bytes):
                word = str(word).encode()
            parts.append(b'$%d\r\n%s\r\n' % (len(word), word))
        return b''.join(parts)

    def read(self):
        line = self.input.readline()
        if not line:
            raise EOFError('the server closed the connection')
        kind, rest = line[:1], line[1:-2]
        if kind == b':':
            return int(rest)
        if kind == b'$':
            return None if rest == b'-1' else self.input.read(int(rest) + 2)[:-2]
        return (kind + rest).decode()

    def call(self, *words):
        return self.pipeline([words])[0]

    def pipeline(self, commands):
        self.socket.sendall(b''.join(map(self.encode, commands)))
        return [self.read() for _ in commands]


def start(launcher, *options):
    command = ['taskset', '-c', '0', launcher, 'serve', '--port', '0', '--io-threads', '1', *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    port = None
    for line in process.stdout:
        found = re.search(r'port (\d+)', line)
        port = int(found.group(1)) if found else port
        if 'Ready' in line:
            return process, port
    raise SystemExit(f'{launcher} does not start')


def fill(client, expires):
    value = b'v' * 900
    for first in range(0, FILLERS, 1000):
        client.pipeline([('SET', f'filler{i}', value) + (('EX', 10000) if expires else ())
                         for i in range(first, first + 1000)])


def is_right(client, operation, size):
    value = b'x' * size
    if operation == 'APPEND':
        return client.call('APPEND', 'k', 'z') == size + 1 and client.call('GET', 'k') == value + b'z'
    if operation == 'RENAME':
        return client.call('RENAME', 'k', 'k2') == '+OK' and client.call('GET', 'k2') == value
    if operation == 'RPUSH':
        return client.call('RPUSH', 'k', value) == 2
    if operation == 'DUMP':
        return len(client.call('DUMP', 'k') or b'') > 10
    return client.call('COPY', 'k', 'k2') == 1 and client.call('GET', 'k2') == value


def keys(servers):
    print('policy,operation,server,' + ','.join(map(str, SIZES)))
    for policy in POLICIES:
        for name, launcher in servers:
            process, port = start(launcher, '--maxmemory', '16mb', '--maxmemory-policy', policy)
            client = Client(port)
            for operation in OPERATIONS:
                right = []
                for size in SIZES:
                    count = 0
                    for _ in range(TRIES):
                        client.call('DEL', 'k', 'k2')
                        fill(client, policy.startswith('volatile'))
                        client.call('RPUSH' if operation == 'RPUSH' else 'SET', 'k', b'x' * size)
                        if policy.startswith('volatile'):
                            client.call('EXPIRE', 'k', 10000)
                        count += is_right(client, operation, size)
                    right.append(count)
                print(f'{policy},{operation},{name},' + ','.join(map(str, right)), flush=True)
            process.terminate()
            process.wait()


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def load(port):
    subprocess.run(['taskset', '-c', '1', 'redis-benchmark', '-p', str(port), '-t', 'set', '-r', '5000000', '-n',
                    str(REQUESTS), '-d', '100', '-P', '16', '-c', '20', '-q'], stdout=subprocess.DEVNULL, check=True)


def cpu(servers, rounds):
    print('policy,server,median_us,all_us')
    for policy in ['allkeys-lru', 'allkeys-lfu', 'allkeys-random']:
        micros = {name: [] for name, _ in servers}
        for number in range(rounds):
            for name, launcher in servers if number % 2 == 0 else reversed(servers):
                process, port = start(launcher, '--maxmemory', '128mb', '--maxmemory-policy', policy)
                load(port)  # warms up, and fills
                before = cpu_seconds(process.pid)
                load(port)
                micros[name].append((cpu_seconds(process.pid) - before) / REQUESTS * 1e6)
                process.terminate()
                process.wait()
        for name, all_micros in micros.items():
            print(f'{policy},{name},{statistics.median(all_micros):.3f},' + ' '.join(f'{m:.3f}' for m in all_micros), flush=True)


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ('keys', 'cpu'):
        raise SystemExit(__doc__)
    rounds = 5
    if arguments[1] == '--rounds':
        rounds = int(arguments[2])
        del arguments[1:3]
    servers = [tuple(argument.split('=', 1)) for argument in arguments[1:]]
    keys(servers) if arguments[0] == 'keys' else cpu(servers, rounds)


if __name__ == '__main__':
    main(sys.argv[1:])
