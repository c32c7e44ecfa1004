package io.varve.server.net.busy;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;

/**
 * Lets the connections of an event loop read while the loop runs a script that takes long, so that SCRIPT KILL arrives.
 * Immutable.
 *
 * <p>The selector is in the middle of its events and cannot be asked for others. Each socket is therefore read as if it
 * was ready. With io_uring, reads complete only when the loop goes on: there a slow script can be killed from a
 * connection of another loop.
 */
public final class SlowScriptTurns {
    private static final EpollIoEvent EPOLL_READABLE = () -> EpollIoOps.EPOLLIN;
    private static final NioIoEvent NIO_READABLE = () -> NioIoOps.READ;

    private final ChannelGroup connections;

    /** @param connections those of all event loops */
    public SlowScriptTurns(ChannelGroup connections) {
        this.connections = connections;
    }

    /** Serves the connections of a loop. Called on its thread. */
    // An event loop is equal to itself only.
    @SuppressWarnings("ReferenceEquality")
    public void serve(EventLoop loop) {
        for (Channel channel : connections) {
            if (channel.isRegistered() && channel.eventLoop() == loop && channel.isActive()
                    && channel.config().isAutoRead()) {
                read(channel);
            }
        }
        if (loop instanceof ScriptedEventLoops.Loop own) {
            own.runWaitingTasks();
        }
    }

    // The handle does not use the registration for an event of its own kind.
    @SuppressWarnings("NullAway")
    private static void read(Channel channel) {
        IoEvent readable = switch (channel.unsafe()) {
            case EpollIoHandle _ -> EPOLL_READABLE;
            case NioIoHandle _ -> NIO_READABLE;
            default -> null;
        };
        if (readable != null && channel.unsafe() instanceof IoHandle handle) {
            handle.handle((IoRegistration) null, readable);
        }
    }
}
