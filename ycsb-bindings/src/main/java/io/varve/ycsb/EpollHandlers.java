package io.varve.ycsb;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollIoHandler;

/** A class of its own, because Netty's epoll need not be there: it is loaded where Lettuce has found it. */
final class EpollHandlers {

    private EpollHandlers() {}

    static IoHandlerFactory newFactory() {
        return EpollIoHandler.newFactory();
    }
}
