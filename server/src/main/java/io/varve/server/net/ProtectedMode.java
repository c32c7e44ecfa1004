package io.varve.server.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

import io.varve.server.command.ServerState;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@code protected-mode}: while the default user has no password, only local clients may connect. Immutable:
 * static methods only.
 */
final class ProtectedMode {
    private static final String DENIED = "DENIED Redis is running in protected mode because protected mode is enabled and"
            + " no password is set for the default user. In this mode connections are only accepted from the loopback"
            + " interface. If you want to connect from external computers to Redis you may adopt one of the following"
            + " solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the"
            + " loopback interface by connecting to Redis from the same host the server is running, however MAKE SURE"
            + " Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change"
            + " permanent. 2) Alternatively you can just disable the protected mode by editing the Redis configuration"
            + " file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started"
            + " the server manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an"
            + " authentication password for the default user. NOTE: You only need to do one of the above things in"
            + " order for the server to start accepting connections from the outside.";

    private ProtectedMode() {}

    /** The error reply for a client from this address; null if it may connect. */
    static @Nullable String refusal(ServerState server, @Nullable SocketAddress remote) {
        boolean isOpen = server.access().defaultAccount().user().needsNoPassword();
        return isOpen && server.config().bool("protected-mode") && !isLocal(remote) ? DENIED : null;
    }

    private static boolean isLocal(@Nullable SocketAddress remote) {
        if (!(remote instanceof InetSocketAddress inet)) {
            return true;
        }
        InetAddress address = inet.getAddress();
        return address != null && address.isLoopbackAddress();
    }
}
