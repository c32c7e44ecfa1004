package io.varve.server.command.dispatch;

import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.redirect.SlotCheck;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandErrors;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/** Error replies for commands that are not run. Immutable: static methods only. */
final class Refusal {
    static final String NO_AUTH = CommandErrors.NO_AUTH;
    static final String NOT_IN_TRANSACTION = "ERR Command not allowed inside a transaction";
    private static final String DEBUG_REFUSED = "ERR DEBUG command not allowed. If the enable-debug-command option is"
            + " set to \"local\", you can run it from a local connection, otherwise you need to set this option in the"
            + " configuration file, and then restart the server.";

    private static final int NAME_BYTES = 48;

    private Refusal() {}

    /** The error for a command that cannot be run at all. */
    static String of(Batch batch, int command, @Nullable CommandSpec spec, boolean mayDebug) {
        BatchArguments arguments = new BatchArguments(batch, command);
        if (spec == null) {
            return CommandErrors.unknown(arguments);
        }
        if (spec.has(CommandTrait.DEBUG_ONLY) && batch.argumentCount(command) > 1 && !mayDebug) {
            return DEBUG_REFUSED;
        }
        if (spec.hasSubcommands() && batch.argumentCount(command) > 1) {
            return CommandErrors.unknownSubcommand(spec, arguments);
        }
        return CommandErrors.wrongCount(spec);
    }

    /** The unknown command or subcommand name; null if the command is refused for another reason. */
    static @Nullable String unknownName(Batch batch, int command, @Nullable CommandSpec spec) {
        if (spec == null) {
            return CommandErrors.text(new BatchArguments(batch, command), 0, NAME_BYTES);
        }
        boolean known = !spec.hasSubcommands() || batch.argumentCount(command) < 2;
        return known ? null : spec.name() + "|" + CommandErrors.text(new BatchArguments(batch, command), 1, NAME_BYTES);
    }

    /** Whether {@code enable-debug-command} allows the client DEBUG. */
    static boolean mayDebug(ServerState server, Client client) {
        return switch (server.config().text("enable-debug-command")) {
            case "yes" -> true;
            case "local" -> client.isLocal();
            default -> false;
        };
    }

    /**
     * Replies the error of a command that is not run. If it belongs to a transaction, the transaction will not run
     * either.
     */
    static void reply(Client client, @Nullable CommandSpec spec, ReplyWriter reply, String error) {
        Transaction transaction = client.transaction();
        if (transaction != null) {
            transaction.fail();
        }
        if (spec != null && spec.fullName().equals("exec")) {
            client.endTransaction();
            reply.error(SlotCheck.isRedirection(error) ? error : TransactionRunner.abortedBecause(error));
        } else {
            reply.error(error);
        }
    }
}
