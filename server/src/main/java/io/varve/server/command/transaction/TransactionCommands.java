package io.varve.server.command.transaction;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandTrait;

import static io.varve.server.command.spec.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.SKIP_SLOWLOG;
import static io.varve.server.command.spec.CommandFlag.STALE;

/**
 * MULTI, EXEC, DISCARD, WATCH, UNWATCH. Immutable: static handlers.
 *
 * <p>The dispatcher queues the commands between MULTI and EXEC without calling their handlers.
 */
public final class TransactionCommands {
    private TransactionCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(describe("multi").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("1.2.0")
                .summary("Starts a transaction").traits(CommandTrait.RUNS_IN_MULTI)
                .handler(TransactionCommands::multi));
        table.add(describe("exec").arity(1).flags(NOSCRIPT, LOADING, STALE, SKIP_SLOWLOG).since("1.2.0")
                .complexity("Depends on commands in the transaction")
                .summary("Executes all commands of a transaction").traits(CommandTrait.RUNS_IN_MULTI)
                .handler(CommandContext::runTransaction));
        table.add(describe("discard").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("2.0.0")
                .complexity("O(N), when N is the number of queued commands").summary("Discards a transaction")
                .traits(CommandTrait.RUNS_IN_MULTI).handler(TransactionCommands::discard));
        table.add(describe("watch").arity(-2).keys(1, -1, 1).access("RO")
                .flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("2.2.0").complexity("O(1) for every key.")
                .summary("Watches keys: EXEC runs only if none of them has changed")
                .traits(CommandTrait.RUNS_IN_MULTI).handler(TransactionCommands::watch));
        table.add(describe("unwatch").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, ALLOW_BUSY).since("2.2.0")
                .summary("Removes all watches of the connection").handler(context -> {
                    context.client().watch().clear();
                    context.reply().ok();
                }));
    }

    private static CommandBuilder describe(String name) {
        return CommandBuilder.named(name).group("transactions").categories("@transaction");
    }

    private static void multi(CommandContext context) {
        Client client = context.client();
        if (client.transaction() != null) {
            context.reply().error("ERR MULTI calls can not be nested");
            return;
        }
        Transaction begun = context.beginTransaction();
        if (begun == null) {
            context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
        client.begin(begun);
        context.reply().ok();
    }

    private static void discard(CommandContext context) {
        if (context.client().transaction() == null) {
            context.reply().error("ERR DISCARD without MULTI");
            return;
        }
        context.client().endTransaction();
        context.reply().ok();
    }

    private static void watch(CommandContext context) {
        Client client = context.client();
        if (client.transaction() != null) {
            context.reply().error("ERR WATCH inside MULTI is not allowed");
            return;
        }
        Item item = context.item();
        for (int i = 0; i < context.keyCount(); i++) {
            Key key = context.keyAt(i);
            boolean exists = context.session().peek(key, item);
            if (!client.watch().add(key, exists, exists ? context.session().changesAtMillis(item) : Item.NEVER)) {
                context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return;
            }
        }
        context.reply().ok();
    }
}
