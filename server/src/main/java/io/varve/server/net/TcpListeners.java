package io.varve.server.net;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.unix.Errors;
import io.varve.server.command.ConfigListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening sockets of one port, one for each address of {@code bind}. Guarded by {@code this}; no caller may be on
 * the event loop that accepts connections, since callers wait for it.
 */
public final class TcpListeners {
    private static final Logger LOG = LoggerFactory.getLogger(TcpListeners.class);
    /** The error number on Linux, the only system with transports whose exceptions have error numbers. */
    private static final int EADDRINUSE = 98;

    private final ServerBootstrap bootstrap;
    private final ChannelGroup listening;
    private Map<Address, Channel> open = new LinkedHashMap<>();
    private int port;

    /** @param listening receives all open sockets */
    public TcpListeners(ServerBootstrap bootstrap, ChannelGroup listening) {
        this.bootstrap = bootstrap;
        this.listening = listening;
    }

    /** The address of a listening socket. */
    private record Address(String host, int port) {
        InetSocketAddress resolved() {
            return switch (host) {
                case "*" -> new InetSocketAddress(port);
                case "::*" -> new InetSocketAddress("::", port);
                default -> new InetSocketAddress(host, port);
            };
        }

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    /** The port, even while {@code bind} names no address; 0 if there is none. */
    public synchronized int port() {
        return port;
    }

    /**
     * Listens on these addresses.
     *
     * @param wanted the port; 0 for a free one
     * @throws IOException if a required address cannot be bound; then no socket listens
     */
    public synchronized void listen(String bind, int wanted) throws IOException {
        prepare(bind, wanted).apply();
    }

    /** Prepares to close all sockets. */
    synchronized ConfigListener.Change prepareNone() {
        return new Moved(new LinkedHashMap<>(), 0, List.of(), List.of());
    }

    /**
     * Opens the wanted sockets that are not open yet; the change closes the others when it is applied.
     *
     * @param bind the addresses; none if it is blank
     * @param wanted the port; 0 for a free one
     * @throws IOException if a required address cannot be bound; the earlier sockets then still listen
     */
    synchronized ConfigListener.Change prepare(String bind, int wanted) throws IOException {
        if (bind.isBlank()) {
            // The port is kept for the next CONFIG SET bind.
            return new Moved(new LinkedHashMap<>(), wanted, List.of(), List.of());
        }
        Opening opening = new Opening(wanted);
        for (String address : bind.trim().split("\\s+")) {
            boolean optional = address.startsWith("-");
            opening.add(optional ? address.substring(1) : address, optional);
        }
        if (!opening.failures.isEmpty() || opening.channels.isEmpty()) {
            opening.result().undo();
            throw new IOException("Could not listen on " + (opening.failures.isEmpty()
                    ? "any of " + bind + ", port " + opening.bound
                    : String.join(", ", opening.failures)));
        }
        return opening.result();
    }

    /** The wanted sockets, as far as they are open. Guarded by the listeners. */
    private final class Opening {
        private final Map<Address, Channel> channels = new LinkedHashMap<>();
        private final List<Channel> fresh = new ArrayList<>();
        private final Set<Address> closedEarly = new LinkedHashSet<>();
        private final List<String> failures = new ArrayList<>();
        private int bound;

        Opening(int wanted) {
            bound = wanted;
        }

        void add(String host, boolean optional) {
            Address address = new Address(host, bound);
            Channel there = closedEarly.contains(address) ? null : open.get(address);
            if (there != null) {
                channels.put(address, there);
                return;
            }
            ChannelFuture attempt = bind(address);
            if (isInUse(attempt.cause()) && closeInTheWay(address)) {
                attempt = bind(address);
            }
            if (attempt.isSuccess()) {
                Channel channel = attempt.channel();
                listening.add(channel);
                fresh.add(channel);
                bound = ((InetSocketAddress) channel.localAddress()).getPort();
                channels.put(new Address(host, bound), channel);
            } else if (!optional) {
                failures.add(address + ": " + (attempt.cause() instanceof UnresolvedAddressException
                        ? "unknown host name"
                        : attempt.cause().getMessage()));
            }
        }

        /**
         * Closes old sockets that conflict with a wanted one: the wildcard address and a specific one exclude each
         * other at one port. The old socket is reopened if the new one cannot be bound.
         */
        private boolean closeInTheWay(Address wanted) {
            boolean any = false;
            for (Map.Entry<Address, Channel> old : open.entrySet()) {
                if (old.getKey().port() == wanted.port() && !channels.containsKey(old.getKey())
                        && closedEarly.add(old.getKey())) {
                    close(old.getValue());
                    any = true;
                }
            }
            return any;
        }

        Moved result() {
            return new Moved(channels, bound, fresh, List.copyOf(closedEarly));
        }
    }

    /** The exceptions of NIO have no error number, only the system's text. */
    private static boolean isInUse(@Nullable Throwable cause) {
        return cause instanceof Errors.NativeIoException numbered
                ? -numbered.expectedErr() == EADDRINUSE
                : cause instanceof BindException && String.valueOf(cause.getMessage()).contains("in use");
    }

    private static void close(Channel channel) {
        channel.close().awaitUninterruptibly();
    }

    private ChannelFuture bind(Address address) {
        return bootstrap.bind(address.resolved()).awaitUninterruptibly();
    }

    /** A prepared change of sockets. Guarded by the listeners. */
    private final class Moved implements ConfigListener.Change {
        private final Map<Address, Channel> channels;
        private final int bound;
        private final List<Channel> fresh;
        private final List<Address> closedEarly;

        Moved(Map<Address, Channel> channels, int bound, List<Channel> fresh, List<Address> closedEarly) {
            this.channels = channels;
            this.bound = bound;
            this.fresh = fresh;
            this.closedEarly = closedEarly;
        }

        @Override
        public void apply() {
            synchronized (TcpListeners.this) {
                open.values().stream().filter(channel -> !channels.containsValue(channel))
                        .forEach(TcpListeners::close);
                open = channels;
                port = bound;
            }
        }

        @Override
        public void undo() {
            synchronized (TcpListeners.this) {
                fresh.forEach(TcpListeners::close);
                for (Address address : closedEarly) {
                    ChannelFuture again = bind(address);
                    if (again.isSuccess()) {
                        listening.add(again.channel());
                        open.put(address, again.channel());
                    } else {
                        open.remove(address);
                        LOG.error("No longer listening on {}: another process has taken the address", address,
                                again.cause());
                    }
                }
            }
        }
    }
}
