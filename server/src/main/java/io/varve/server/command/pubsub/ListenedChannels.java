package io.varve.server.command.pubsub;

import java.util.function.Predicate;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.acl.Account;
import io.varve.server.acl.User;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.Arguments;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.SubscriptionType;
import io.varve.server.pubsub.Subscriptions;

/**
 * Checks subscriptions against the ACL rules of their users. Immutable: static methods only.
 *
 * <p>ORDER: an ACL change replaces the rules first, and then searches for subscribers that the rules forbid. A client
 * subscribes first, and then checks its rules again. So one of both checks finds every subscription that is concurrent
 * with an ACL change. Each change makes a new {@link User}. If the client's is not the one of before the subscription,
 * it may have messages of a time without permission, even if the rules permit the names again. So it is disconnected,
 * perhaps without need.
 */
public final class ListenedChannels {
    private ListenedChannels() {}

    /** Disconnects the account's clients whose subscriptions its current rules forbid. */
    public static void disconnectBeyond(CommandContext context, Account account) {
        User user = account.user();
        if (user.isUnrestricted()) {
            return;
        }
        ServerState server = context.server();
        Predicate<Subscriptions> listensBeyond = server.notifications().channels()
                .listenersTo((scope, name) -> !permits(context, user, scope, name));
        for (Client client : server.lifecycle().clients().unordered()) {
            if (client.account() == account && listensBeyond.test(client.subscriptions())) {
                client.closeFor(context.client());
            }
        }
    }

    /** Whether the current rules forbid the client any of the names in a command; all arguments are names. */
    static boolean areNamedBeyond(CommandContext context, SubscriptionType scope) {
        User user = context.client().user();
        if (user.isUnrestricted()) {
            return false;
        }
        for (int i = 1; i < context.argumentCount(); i++) {
            if (!permits(user, scope, context.argumentAddress(i), context.argumentLength(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean permits(User user, SubscriptionType scope, long address, int length) {
        return user.permitsChannel(address, length, scope == SubscriptionType.PATTERN);
    }

    private static boolean permits(CommandContext context, User user, SubscriptionType scope, Name name) {
        if (name.length() <= Arguments.MAX_TEXT_BYTES) {
            return permits(user, scope, context.scratch(name.bytes()), name.length());
        }
        // Scratch memory would keep that size.
        ValueRun buffer = context.cache().newBuffer(name.length());
        if (buffer == null) {
            // A client that is disconnected without need reconnects, and is checked then.
            return false;
        }
        try {
            Memory.copy(name.bytes(), 0, buffer.address(), name.length());
            return permits(user, scope, buffer.address(), name.length());
        } finally {
            buffer.release();
        }
    }
}
