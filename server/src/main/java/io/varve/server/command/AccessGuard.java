package io.varve.server.command;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;
import io.varve.server.acl.AclLog;
import io.varve.server.acl.Denial;
import io.varve.server.command.access.RequestedAccess;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ClientLine;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks commands against the ACL rules of their client's user and logs denials. Immutable, shared by all event loops.
 *
 * <p>The dispatcher skips this check for unrestricted users: a single branch there decides.
 */
public final class AccessGuard {
    /** Maximum bytes of a key, channel or user name in the ACL log; longer ones are cut. */
    private static final int LONGEST_LOGGED_BYTES = 4096;

    private final ServerState server;

    AccessGuard(ServerState server) {
        this.server = server;
    }

    /** The error for a command that the client's user may not run; null if the user may run it. */
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
     * Checks a queued command again at EXEC, because the rules may have changed since it was queued.
     *
     * @param isFirst whether this is the first check: a transaction that runs again logs its denial once
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

    /** The error for a command that a script calls for a client; null if the client's user may run it. */
    public @Nullable String refusalInScript(Client client, Batch batch, CommandSpec spec) {
        long verdict = client.user().check(RequestedAccess.of(batch, 0, spec));
        if (verdict == Denial.NONE) {
            return null;
        }
        note(client, batch, 0, spec, verdict, AclLog.IN_SCRIPT);
        return switch (Denial.of(verdict)) {
            case KEY ->
                "ERR The user executing the script can't access at least one of the keys mentioned in the command"
                        + " arguments";
            case CHANNEL -> "ERR The user executing the script can't publish to the channel mentioned in the command";
            case COMMAND, AUTH -> "ERR The user executing the script can't run this command or subcommand";
        };
    }

    private void note(Client client, Batch batch, int command, CommandSpec spec, long verdict) {
        note(client, batch, command, spec, verdict,
                client.transaction() == null ? AclLog.TOP_LEVEL : AclLog.IN_MULTI);
    }

    private void note(Client client, Batch batch, int command, CommandSpec spec, long verdict, String place) {
        Denial reason = Denial.of(verdict);
        String object = spec.fullName();
        if (reason != Denial.COMMAND) {
            int argument = batch.firstArgument(command) + Denial.argument(verdict);
            int length = Math.min(batch.length(argument), LONGEST_LOGGED_BYTES);
            object = new String(Memory.toArray(batch.address(argument), length), StandardCharsets.ISO_8859_1);
        }
        note(reason, object, client.account().name(), client, spec, new BatchArguments(batch, command), place);
    }

    /** Logs a failed login: {@code object} is the command that sent the credentials, {@code user} the name in them. */
    public void noteFailedLogin(String object, String user, CommandContext context) {
        String name = user.substring(0, Math.min(user.length(), LONGEST_LOGGED_BYTES));
        note(Denial.AUTH, object, name, context.client(), context.spec(), context,
                context.client().transaction() == null ? AclLog.TOP_LEVEL : AclLog.IN_MULTI);
    }

    private void note(Denial reason, String object, String user, Client client, CommandSpec spec,
            Arguments arguments, String place) {
        long now = server.ticker().wallMillis();
        server.access().log().add(reason, place, object, user,
                ClientLine.of(client, now, spec, arguments), now, server.config().number("acllog-max-len"));
    }
}
