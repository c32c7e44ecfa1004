package io.varve.server.net;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerContext;

/** The worker of each event loop, made when its first connection comes. Many threads: a concurrent map. */
final class Workers implements AutoCloseable {
    private final Map<EventLoop, Worker> byLoop = new ConcurrentHashMap<>();
    private final ServerContext server;
    private final CommandTable table;
    private final ByteBufAllocator allocator;

    Workers(ServerContext server, CommandTable table, ByteBufAllocator allocator) {
        this.server = server;
        this.table = table;
        this.allocator = allocator;
    }

    Worker of(EventLoop loop) {
        return byLoop.computeIfAbsent(loop, own -> new Worker(server, table, allocator, own));
    }

    /** Called when the event loops have ended. */
    @Override
    public void close() {
        byLoop.values().forEach(Worker::close);
    }
}
