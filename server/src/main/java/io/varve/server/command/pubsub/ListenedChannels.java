package io.varve.server.command.pubsub;

import java.util.function.Predicate;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.acl.Account;
import io.varve.server.acl.User;
import io.varve.server.command.Arguments;
import io.varve.server.command.Client;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Scope;
import io.varve.server.pubsub.Subscriptions;

/**
 * What clients listen to, against the rules of their users. Immutable: static methods only.
 *
 * <p>ORDER: rules are replaced first, and then those are looked for who listen beyond them; a client is first among those who listen,
 * and then looks at its rules once more. So whoever begins to listen while rules change is found by the one or by the other.
 */
public final class ListenedChannels {
    private ListenedChannels() {}

    /** Disconnects the clients of an account that listen to what its rules, as they are now, do not allow. */
    public static void disconnectBeyond(Invocation call, Account account) {
        User user = account.user();
        if (user.isUnrestricted()) {
            return;
        }
        ServerContext server = call.server();
        Predicate<Subscriptions> listensBeyond = server.channels()
                .listenersTo((scope, name) -> !permits(call, user, scope, name));
        for (Client client : server.clients().unordered()) {
            if (client.account() == account && listensBeyond.test(client.subscriptions())) {
                client.closeFor(call.client());
            }
        }
    }

    /** Whether the names in a command, all of its arguments, are more than its client may listen to at this moment. */
    static boolean areNamedBeyond(Invocation call, Scope scope) {
        User user = call.client().user();
        if (user.isUnrestricted()) {
            return false;
        }
        for (int i = 1; i < call.argumentCount(); i++) {
            if (!permits(user, scope, call.argumentAddress(i), call.argumentLength(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean permits(User user, Scope scope, long address, int length) {
        return user.permitsChannel(address, length, scope == Scope.PATTERN);
    }

    private static boolean permits(Invocation call, User user, Scope scope, Name name) {
        if (name.length() <= Arguments.MAX_TEXT_BYTES) {
            return permits(user, scope, call.scratch(name.bytes()), name.length());
        }
        // Scratch memory would stay as large as that.
        ValueRun room = call.cache().newBuffer(name.length());
        if (room == null) {
            // Who is disconnected without need comes again, and is asked about then.
            return false;
        }
        try {
            Memory.copy(name.bytes(), 0, room.address(), name.length());
            return permits(user, scope, room.address(), name.length());
        } finally {
            room.release();
        }
    }
}
