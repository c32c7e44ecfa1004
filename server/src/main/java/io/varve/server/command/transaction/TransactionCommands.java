package io.varve.server.command.transaction;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.Client;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.Transaction;

import static io.varve.server.command.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.SKIP_SLOWLOG;
import static io.varve.server.command.CommandFlag.STALE;

/**
 * MULTI, EXEC, DISCARD, WATCH, UNWATCH. Immutable: static handlers.
 *
 * <p>What comes in between is queued by the dispatcher, which never calls its handler.
 */
public final class TransactionCommands {
    private TransactionCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(describe("multi").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("1.2.0")
                .summary("Starts a transaction.").runsAtOnce().handler(TransactionCommands::multi));
        table.add(describe("exec").arity(1).flags(NOSCRIPT, LOADING, STALE, SKIP_SLOWLOG).since("1.2.0")
                .complexity("Depends on commands in the transaction")
                .summary("Executes all commands in a transaction.").runsAtOnce().handler(Invocation::runTransaction));
        table.add(describe("discard").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("2.0.0")
                .complexity("O(N), when N is the number of queued commands").summary("Discards a transaction.")
                .runsAtOnce().handler(TransactionCommands::discard));
        table.add(describe("watch").arity(-2).keys(1, -1, 1).access("RO")
                .flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("2.2.0").complexity("O(1) for every key.")
                .summary("Monitors changes to keys to determine the execution of a transaction.")
                .runsAtOnce().handler(TransactionCommands::watch));
        table.add(describe("unwatch").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("2.2.0")
                .summary("Forgets about watched keys of a transaction.").handler(call -> {
                    call.client().watch().clear();
                    call.reply().ok();
                }));
    }

    private static CommandBuilder describe(String name) {
        return CommandSpec.named(name).group("transactions").categories("@transaction");
    }

    private static void multi(Invocation call) {
        Client client = call.client();
        if (client.transaction() != null) {
            call.reply().error("ERR MULTI calls can not be nested");
            return;
        }
        Transaction begun = call.beginTransaction();
        if (begun == null) {
            call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
        client.begin(begun);
        call.reply().ok();
    }

    private static void discard(Invocation call) {
        if (call.client().transaction() == null) {
            call.reply().error("ERR DISCARD without MULTI");
            return;
        }
        call.client().endTransaction();
        call.reply().ok();
    }

    private static void watch(Invocation call) {
        Client client = call.client();
        if (client.transaction() != null) {
            call.reply().error("ERR WATCH inside MULTI is not allowed");
            return;
        }
        Item item = call.item();
        for (int i = 0; i < call.keyCount(); i++) {
            Key key = call.keyAt(i);
            boolean exists = call.session().peek(key, item);
            if (!client.watch().add(key, exists, exists ? call.session().changesAtMillis(item) : Item.NEVER)) {
                call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return;
            }
        }
        call.reply().ok();
    }
}
