package io.varve.server.net;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.uring.IoUringChannelOption;
import io.varve.server.command.ServerState;
import io.varve.server.resp.LargeBulks;
import org.jspecify.annotations.Nullable;

/** Sets up the channel pipeline of a new connection. Immutable, shared by all event loops. */
final class ConnectionInitializer extends ChannelInitializer<Channel> {
    private static final int READ_BYTES = 64 << 10;

    private final ServerState server;
    private final Workers workers;
    private final Transport transport;
    private final ConnectionBuffers buffers;
    private final LargeBulks largeBulks;
    private final ChannelGroup connections;
    private final @Nullable TlsInitializer tls;
    private final RecvByteBufAllocator sizes = new AdaptiveRecvByteBufAllocator(512, 4096, READ_BYTES)
            .maxMessagesPerRead(1);

    /** @param tls encrypts the connections; null if they are plain */
    ConnectionInitializer(ServerState server, Workers workers, Transport transport, ConnectionBuffers buffers,
            LargeBulks largeBulks, ChannelGroup connections, @Nullable TlsInitializer tls) {
        this.server = server;
        this.workers = workers;
        this.transport = transport;
        this.buffers = buffers;
        this.largeBulks = largeBulks;
        this.connections = connections;
        this.tls = tls;
    }

    @Override
    protected void initChannel(Channel channel) {
        TlsWriteThrottle writeThrottle = null;
        if (tls != null) {
            writeThrottle = tls.addTo(channel);
            if (writeThrottle == null) {
                refuse(channel);
                return;
            }
        }
        connections.add(channel);
        if (!(channel instanceof DomainSocketChannel || channel instanceof NioDomainSocketChannel)) {
            keepAlive(channel.config());
        }
        // io_uring holds a buffer for each connection that waits for input, so none can be shared. Encrypted input is
        // kept until its record is complete.
        boolean isShared = transport != Transport.IO_URING && tls == null;
        channel.config().setRecvByteBufAllocator(
                new ReusingReceive(sizes, isShared ? workers.of(channel.eventLoop()).received() : null));
        channel.pipeline().addLast(new ConnectionHandler(server, workers, largeBulks, buffers, channel, writeThrottle));
    }

    /** Closes without an error reply: a reply would need the engine for which there is no memory. */
    // The close needs no further action.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void refuse(Channel channel) {
        server.lifecycle().clients().refuse();
        buffers.logClosed(channel.remoteAddress(), "the heap budget for encrypted connections is used up",
                server.ticker().wallMillis());
        channel.close();
    }

    /** Applies the current {@code tcp-keepalive}. */
    private void keepAlive(ChannelConfig config) {
        int seconds = server.config().intNumber("tcp-keepalive");
        config.setOption(ChannelOption.SO_KEEPALIVE, seconds > 0);
        if (seconds > 0) {
            switch (transport) {
                case EPOLL -> {
                    config.setOption(EpollChannelOption.TCP_KEEPIDLE, seconds);
                    config.setOption(EpollChannelOption.TCP_KEEPINTVL, Math.max(1, seconds / 3));
                    config.setOption(EpollChannelOption.TCP_KEEPCNT, 3);
                }
                case IO_URING -> config.setOption(IoUringChannelOption.TCP_KEEPIDLE, seconds);
                // NIO leaves the interval to the system.
                case NIO -> {
                }
            }
        }
    }
}
