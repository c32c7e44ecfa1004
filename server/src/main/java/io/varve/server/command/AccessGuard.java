package io.varve.server.command;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;
import io.varve.server.acl.AclLog;
import io.varve.server.acl.Denial;
import org.jspecify.annotations.Nullable;

/**
 * Asks the rules of a client's user before a command runs, and notes what they deny. Immutable, shared by all event loops.
 *
 * <p>Who may do everything is not asked about: that is one branch in the dispatcher.
 */
public final class AccessGuard {
    /** A longer key, channel or name of a user is cut in the log. */
    private static final int LONGEST_LOGGED_BYTES = 4096;

    private final ServerContext server;

    AccessGuard(ServerContext server) {
        this.server = server;
    }

    /** The error for a command that the client's user may not run; null if they may. */
    public @Nullable String refusal(Client client, Batch batch, int command, CommandSpec spec) {
        long verdict = client.user().check(RequestedAccess.of(batch, command, spec));
        if (verdict == Denial.NONE) {
            return null;
        }
        note(client, batch, command, spec, verdict);
        return switch (Denial.of(verdict)) {
            case KEY -> "NOPERM No permissions to access a key";
            case CHANNEL -> "NOPERM No permissions to access a channel";
            case COMMAND, AUTH -> "NOPERM User " + client.account().text() + " has no permissions to run the '"
                    + spec.fullName() + "' command";
        };
    }

    /**
     * The same for a command that was queued when the rules may have been others.
     *
     * @param isFirst whether it is asked for the first time: a transaction that runs again is denied once
     */
    public @Nullable String refusalInTransaction(Client client, Batch batch, int command, CommandSpec spec,
            boolean isFirst) {
        long verdict = client.user().check(RequestedAccess.of(batch, command, spec));
        if (verdict == Denial.NONE) {
            return null;
        }
        if (isFirst) {
            note(client, batch, command, spec, verdict);
        }
        return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This"
                + " command is no longer allowed for the following reason: " + Denial.of(verdict).inTransaction();
    }

    private void note(Client client, Batch batch, int command, CommandSpec spec, long verdict) {
        Denial reason = Denial.of(verdict);
        String object = spec.fullName();
        if (reason != Denial.COMMAND) {
            int argument = batch.firstArgument(command) + Denial.argument(verdict);
            int length = Math.min(batch.length(argument), LONGEST_LOGGED_BYTES);
            object = new String(Memory.toArray(batch.address(argument), length), StandardCharsets.ISO_8859_1);
        }
        note(reason, object, client.account().name(), client, spec, new BatchArguments(batch, command));
    }

    /** A name and password were not right: {@code object} is the command that gave them as it was given, {@code user} the name. */
    public void noteFailedLogin(String object, String user, Invocation call) {
        String name = user.substring(0, Math.min(user.length(), LONGEST_LOGGED_BYTES));
        note(Denial.AUTH, object, name, call.client(), call.spec(), call);
    }

    private void note(Denial reason, String object, String user, Client client, CommandSpec spec,
            Arguments arguments) {
        long now = server.ticker().wallMillis();
        server.access().log().add(reason, client.transaction() == null ? AclLog.TOP_LEVEL : AclLog.IN_MULTI, object,
                user, ClientLine.of(client, now, spec, arguments), now, server.config().number("acllog-max-len"));
    }
}
