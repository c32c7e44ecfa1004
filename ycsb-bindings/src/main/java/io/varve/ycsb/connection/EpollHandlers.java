package io.varve.ycsb.connection;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollIoHandler;

/**
 * Creates Netty's epoll handlers. Immutable: static methods only. It is a separate class because Netty's epoll may be
 * absent: it is loaded only where Lettuce has found it.
 */
final class EpollHandlers {

    private EpollHandlers() {}

    static IoHandlerFactory newFactory() {
        return EpollIoHandler.newFactory();
    }
}
