package io.varve.server.net;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;

/** The worker of each event loop, created when its first connection arrives. Many threads: a concurrent map. */
final class Workers implements AutoCloseable {
    private final Map<EventLoop, Worker> byLoop = new ConcurrentHashMap<>();
    private final ServerState server;
    private final CommandTable table;
    private final ByteBufAllocator allocator;

    Workers(ServerState server, CommandTable table, ByteBufAllocator allocator) {
        this.server = server;
        this.table = table;
        this.allocator = allocator;
    }

    Worker of(EventLoop loop) {
        return byLoop.computeIfAbsent(loop, own -> new Worker(server, table, allocator, own));
    }

    /** Called after the end of the event loops. */
    @Override
    public void close() {
        byLoop.values().forEach(Worker::close);
    }
}
