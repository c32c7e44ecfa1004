package io.varve.server.net;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerDomainSocketChannel;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;

/** The system's interface for socket events: epoll, io_uring or NIO. Immutable. The proxy uses it, too. */
public enum Transport {
    /** Preferred: it exists on every Linux, and containers do not disable it as they often do io_uring. */
    EPOLL("epoll"), IO_URING("io_uring"), NIO("nio");

    private final String settingName;

    Transport(String settingName) {
        this.settingName = settingName;
    }

    /** The best available transport, or the requested one. */
    public static Choice choose(String wanted) {
        for (Transport transport : values()) {
            boolean configured = wanted.equals(transport.settingName);
            if (!configured && !wanted.equals("auto")) {
                continue;
            }
            if (transport.isAvailable()) {
                return new Choice(transport, configured ? "as configured" : "the best available");
            }
            if (configured) {
                return new Choice(NIO, wanted + " is not available: " + transport.unavailability());
            }
        }
        return new Choice(NIO, "nothing better is available: " + EPOLL.unavailability());
    }

    /** A transport and the reason for its choice. */
    public record Choice(Transport transport, String reason) {}

    public String settingName() {
        return settingName;
    }

    private boolean isAvailable() {
        return switch (this) {
            case EPOLL -> Epoll.isAvailable();
            case IO_URING -> IoUring.isAvailable();
            case NIO -> true;
        };
    }

    private String unavailability() {
        Throwable cause = switch (this) {
            case EPOLL -> Epoll.unavailabilityCause();
            case IO_URING -> IoUring.unavailabilityCause();
            case NIO -> null;
        };
        return cause == null ? "" : String.valueOf(cause.getMessage());
    }

    public IoHandlerFactory ioHandlers() {
        return switch (this) {
            case EPOLL -> EpollIoHandler.newFactory();
            case IO_URING -> IoUringIoHandler.newFactory();
            case NIO -> NioIoHandler.newFactory();
        };
    }

    /** The channel for Unix domain sockets. */
    Class<? extends ServerChannel> serverDomainChannel() {
        return switch (this) {
            case EPOLL -> EpollServerDomainSocketChannel.class;
            case IO_URING -> IoUringServerDomainSocketChannel.class;
            case NIO -> NioServerDomainSocketChannel.class;
        };
    }

    /** The channel that connects to a server. */
    public Class<? extends SocketChannel> clientChannel() {
        return switch (this) {
            case EPOLL -> EpollSocketChannel.class;
            case IO_URING -> IoUringSocketChannel.class;
            case NIO -> NioSocketChannel.class;
        };
    }

    public Class<? extends ServerSocketChannel> serverChannel() {
        return switch (this) {
            case EPOLL -> EpollServerSocketChannel.class;
            case IO_URING -> IoUringServerSocketChannel.class;
            case NIO -> NioServerSocketChannel.class;
        };
    }
}
