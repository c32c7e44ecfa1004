package io.varve.server.net;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.EnumSet;
import java.util.Set;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.unix.DomainSocketAddress;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The Unix domain socket that {@code unixsocket} names. Confined to the thread that opens and closes it. */
final class UnixListener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnixListener.class);
    private static final int OCTAL_RADIX = 8;
    /** From the lowest bit of the mode on. */
    private static final PosixFilePermission[] BITS = {PosixFilePermission.OTHERS_EXECUTE,
            PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_READ, PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.GROUP_WRITE, PosixFilePermission.GROUP_READ, PosixFilePermission.OWNER_EXECUTE,
            PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_READ};

    private final Path path;
    private final Channel channel;

    private UnixListener(Path path, Channel channel) {
        this.path = path;
        this.channel = channel;
    }

    /**
     * Listens on the socket, and replaces one that an earlier process has left.
     *
     * @throws IOException if it cannot listen
     */
    static UnixListener open(ServerBootstrap bootstrap, Transport transport, ServerConfig config, Path path)
            throws IOException {
        try {
            removeSocket(path);
            SocketAddress address = transport == Transport.NIO
                    ? UnixDomainSocketAddress.of(path)
                    : new DomainSocketAddress(path.toFile());
            ChannelFuture attempt = bootstrap.bind(address).awaitUninterruptibly();
            if (!attempt.isSuccess()) {
                throw new IOException(String.valueOf(attempt.cause().getMessage()), attempt.cause());
            }
            UnixListener listener = new UnixListener(path, attempt.channel());
            try {
                listener.restrict(config);
            } catch (IOException | RuntimeException refused) {
                listener.close();
                throw refused;
            }
            return listener;
        } catch (IOException | UnsupportedOperationException failed) {
            throw new IOException("Could not listen on unixsocket " + path + ": " + reason(failed), failed);
        }
    }

    private static @Nullable String reason(Exception failed) {
        if (failed instanceof UserPrincipalNotFoundException unknown) {
            return "there is no group " + unknown.getName();
        }
        return failed instanceof FileSystemException file && file.getReason() != null
                ? file.getReason()
                : failed.getMessage();
    }

    Channel channel() {
        return channel;
    }

    /** Applies {@code unixsocketperm} and {@code unixsocketgroup}. */
    private void restrict(ServerConfig config) throws IOException {
        String group = config.text("unixsocketgroup");
        if (!group.isEmpty()) {
            GroupPrincipal principal = path.getFileSystem().getUserPrincipalLookupService()
                    .lookupPrincipalByGroupName(group);
            Files.getFileAttributeView(path, PosixFileAttributeView.class).setGroup(principal);
        }
        int mode = Integer.parseInt(config.text("unixsocketperm"), OCTAL_RADIX);
        if (mode != 0) {
            Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
            for (int bit = 0; bit < BITS.length; bit++) {
                if ((mode & 1 << bit) != 0) {
                    permissions.add(BITS[bit]);
                }
            }
            Files.setPosixFilePermissions(path, permissions);
        }
    }

    /** Removes only a socket: another type of file is not from a server. */
    private static void removeSocket(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            if (!Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).isOther()) {
                throw new IOException("a file of this name exists and is not a socket");
            }
            Files.delete(path);
        }
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
        try {
            removeSocket(path);
        } catch (IOException failed) {
            LOG.warn("Cannot remove the socket {}", path, failed);
        }
    }
}
