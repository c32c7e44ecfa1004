package io.varve.server.net;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.net.busy.SlowScriptTurns;

/** The worker of each event loop, created when its first connection arrives. Many threads: a concurrent map. */
final class Workers implements AutoCloseable {
    private final Map<EventLoop, Worker> byLoop = new ConcurrentHashMap<>();
    private final ServerState server;
    private final CommandTable table;
    private final ByteBufAllocator allocator;
    private final Function<EventLoop, EventLoopExecutor> executors;

    Workers(ServerState server, CommandTable table, ByteBufAllocator allocator) {
        this(server, table, allocator, new SlowScriptTurns(new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)));
    }

    /** @param turns gives connections turns while a script takes long */
    Workers(ServerState server, CommandTable table, ByteBufAllocator allocator, SlowScriptTurns turns) {
        this(server, table, allocator, loop -> new NettyEventLoop(loop, turns));
    }

    /** @param executors adapts an event loop for the tasks that other threads give it */
    Workers(ServerState server, CommandTable table, ByteBufAllocator allocator,
            Function<EventLoop, EventLoopExecutor> executors) {
        this.server = server;
        this.table = table;
        this.allocator = allocator;
        this.executors = executors;
    }

    Worker of(EventLoop loop) {
        return byLoop.computeIfAbsent(loop, own -> new Worker(server, table, allocator, executors.apply(own)));
    }

    /** Called after the end of the event loops. */
    @Override
    public void close() {
        byLoop.values().forEach(Worker::close);
    }
}
