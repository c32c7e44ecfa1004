package io.varve.server.command.key;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands on keys of any type: delete, test, copy, move, rename. Immutable: static handlers.
 *
 * @see ExpiryCommands
 * @see ScanCommands
 */
public final class KeyCommands {
    private static final String TRANSFER = "O(1), or O(N) where N is the size of a large collection that moves to"
            + " another shard";
    private static final String SAME_OBJECT = "ERR source and destination objects are the same";

    private KeyCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(keys("del", -2, "1.0.0", "Deletes keys").keys(1, -1, 1).traits(CommandTrait.KEYS_ON_DEMAND)
                .access("RM delete")
                .flags(WRITE)
                .tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) where N is the number of keys")
                .handler(KeyCommands::del));
        table.add(keys("unlink", -2, "4.0.0", "Deletes keys and reclaims their memory in the background").keys(1, -1, 1)
                .traits(CommandTrait.KEYS_ON_DEMAND)
                .access("RM delete").flags(WRITE, FAST).tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) where N is the number of keys").handler(KeyCommands::del));
        table.add(keys("exists", -2, "1.0.0", "Counts the keys that exist").keys(1, -1, 1)
                .traits(CommandTrait.KEYS_ON_DEMAND).access("RO")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) where N is the number of keys")
                .handler(KeyCommands::exists));
        table.add(keys("touch", -2, "3.2.1", "Updates the last access time of keys").keys(1, -1, 1)
                .traits(CommandTrait.KEYS_ON_DEMAND)
                .access("RO").flags(READONLY, FAST).tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) where N is the number of keys").handler(KeyCommands::touch));
        table.add(
                keys("type", 2, "1.0.0", "Returns the type of a key's value").key(1).access("RO")
                        .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                        .handler(KeyCommands::type));
        table.add(keys("copy", -3, "6.2.0", "Copies a key's value and expiry time to another key").keys(1, 2, 1)
                .access("RO access", "OW update").flags(WRITE, DENYOOM)
                .complexity("O(N) where N is the size of the value")
                .traits(CommandTrait.ALL_OR_NOTHING)
                .handler(KeyCommands::copy));
        table.add(keys("move", 3, "1.0.0", "Moves a key to another database").key(1).access("RW access update")
                .flags(WRITE, FAST)
                .handler(KeyCommands::move));
        table.add(keys("rename", 3, "1.0.0", "Renames a key and overwrites the destination").keys(1, 2, 1)
                .access("RW access delete", "OW update").flags(WRITE).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity(TRANSFER)
                .handler(context -> rename(context, false)));
        table.add(keys("renamenx", 3, "1.0.0", "Renames a key if the new name does not exist").keys(1, 2, 1)
                .access("RW access delete", "OW insert").flags(WRITE, FAST).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity(TRANSFER)
                .handler(context -> rename(context, true)));
        ExpiryCommands.addTo(table);
    }

    /** Starts the description of a command on keys of any type. */
    public static CommandBuilder keys(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).categories("@keyspace").group("generic").since(since)
                .summary(summary);
    }

    private static void del(CommandContext context) {
        int deleted = 0;
        for (int i = 0; i < context.keyCount(); i++) {
            if (context.session().delete(context.keyAt(i))) {
                context.events().emit(KeyEvent.DEL, context.keyAt(i));
                context.countChanges(1);
                deleted++;
            }
        }
        context.reply().integer(deleted);
    }

    private static void exists(CommandContext context) {
        int found = 0;
        for (int i = 0; i < context.keyCount(); i++) {
            if (KeyLookup.findWithoutTouch(context, context.keyAt(i), context.item())) {
                found++;
            }
        }
        context.reply().integer(found);
    }

    private static void touch(CommandContext context) {
        // TOUCH updates access recency even for a client with CLIENT NO-TOUCH.
        context.session().touching(true);
        int found = 0;
        for (int i = 0; i < context.keyCount(); i++) {
            if (context.session().find(context.keyAt(i), context.item())) {
                found++;
            }
        }
        context.session().touching(!context.client().noTouch());
        context.reply().integer(found);
    }

    private static void type(CommandContext context) {
        Item item = context.item();
        boolean found = KeyLookup.findWithoutTouch(context, context.keyAt(0), item);
        context.reply().simple(found ? item.type().redisName() : "none");
    }

    // --- from one key to another

    private static void copy(CommandContext context) {
        boolean replace = false;
        int database = context.database();
        for (int i = 3; i < context.argumentCount(); i++) {
            if (context.argumentIs(i, "REPLACE")) {
                replace = true;
            } else if (context.argumentIs(i, "DB") && i + 1 < context.argumentCount()) {
                i++;
                if (isOtherDatabaseOfCluster(context, i)) {
                    context.reply().error("ERR Copying to another database is not allowed in cluster mode");
                    return;
                }
                database = context.requireDatabase(i);
                if (database < 0) {
                    return;
                }
            } else {
                context.syntaxError();
                return;
            }
        }
        if (database == context.database() && sameName(context)) {
            context.reply().error(SAME_OBJECT);
            return;
        }
        Key target = context.keyInDatabase(2, database);
        Item source = context.item();
        if (!context.session().find(context.keyAt(0), source)) {
            context.reply().integer(0);
            return;
        }
        boolean present = context.session().findForWriting(target, context.otherItem());
        if (present && !replace) {
            context.reply().integer(0);
            return;
        }
        write(context, source, target);
        emitIfReplaced(context, present, target);
        context.events().emit(KeyEvent.COPY_TO, target);
        context.countChanges(1);
        context.reply().integer(1);
    }

    /** Whether a member of a cluster would have the database that an argument names, outside the cluster. */
    private static boolean isOtherDatabaseOfCluster(CommandContext context, int argument) {
        return context.server().cluster() != null && context.isLong(argument) && context.longValue() > 0
                && context.longValue() < context.server().config().number("databases");
    }

    private static void move(CommandContext context) {
        if (context.server().cluster() != null) {
            context.reply().error("ERR MOVE is not allowed in cluster mode");
            return;
        }
        int database = context.requireDatabase(2);
        if (database < 0) {
            return;
        }
        if (database == context.database()) {
            context.reply().error(SAME_OBJECT);
            return;
        }
        CacheSession session = context.session();
        Item source = context.item();
        Key target = context.keyInDatabase(1, database);
        if (!session.findForWriting(context.keyAt(0), source) || session.findForWriting(target, context.otherItem())) {
            context.reply().integer(0);
            return;
        }
        transfer(context, source, target);
        context.events().emit(KeyEvent.MOVE_FROM, context.keyAt(0));
        context.events().emit(KeyEvent.MOVE_TO, target);
        context.countChanges(1);
        context.reply().integer(1);
    }

    private static void rename(CommandContext context, boolean keepTarget) {
        CacheSession session = context.session();
        Item source = context.item();
        if (!session.findForWriting(context.keyAt(0), source)) {
            context.reply().error("ERR no such key");
            return;
        }
        boolean renamed = true;
        if (sameName(context)) {
            renamed = !keepTarget;
        } else {
            Key target = context.keyAt(1);
            boolean present = session.findForWriting(target, context.otherItem());
            renamed = !present || !keepTarget;
            if (renamed) {
                transfer(context, source, target);
                emitIfReplaced(context, present, target);
                context.events().emit(KeyEvent.RENAME_FROM, context.keyAt(0));
                context.events().emit(KeyEvent.RENAME_TO, target);
                context.countChanges(1);
            }
        }
        if (keepTarget) {
            context.reply().integer(renamed ? 1 : 0);
        } else {
            context.reply().ok();
        }
    }

    /** Publishes a {@code new} event if the item replaces another, as Redis does. */
    public static void emitIfReplaced(CommandContext context, boolean present, Key target) {
        if (present) {
            context.events().emit(KeyEvent.NEW, target);
        }
    }

    private static boolean sameName(CommandContext context) {
        int length = context.argumentLength(1);
        return length == context.argumentLength(2)
                && Memory.equal(context.argumentAddress(1), context.argumentAddress(2), length);
    }

    /** Moves an item, with its expiry time and its pin, to another key. */
    private static void transfer(CommandContext context, Item source, Key target) {
        CacheSession session = context.session();
        boolean isPinned = session.isPinned(source);
        transferValue(context, source, target);
        if (session.peek(target, context.otherItem()) && isPinned != session.isPinned(context.otherItem())) {
            if (isPinned) {
                session.pinItem(context.otherItem(), Long.MAX_VALUE);
            } else {
                session.unpinItem(context.otherItem());
            }
        }
    }

    private static void transferValue(CommandContext context, Item source, Key target) {
        if (source.isTree()) {
            inItsClass(context, source,
                    () -> context.session().moveTree(context.keyAt(0), source, target, context.otherItem(),
                            source.expireAtMillis()));
            return;
        }
        inItsClass(context, source, () -> {
            if (!context.session().moveRun(context.keyAt(0), source, target, context.otherItem())) {
                writeCopy(context, source, target);
                context.session().delete(context.keyAt(0));
            }
        });
    }

    /**
     * Copies an item, with its expiry time and penalty class, to another key; the source item must not move during the
     * copy.
     */
    private static void write(CommandContext context, Item source, Key target) {
        inItsClass(context, source, () -> writeCopy(context, source, target));
    }

    /** Runs a write that assigns the penalty class of the source item, or the client's class if the source has none. */
    private static void inItsClass(CommandContext context, Item source, Runnable write) {
        CacheSession session = context.session();
        int known = session.penaltyClass(source);
        session.writesInto(known == 0 ? context.client().writesInto() : known);
        try {
            write.run();
        } finally {
            session.writesInto(context.client().writesInto());
        }
    }

    private static void writeCopy(CommandContext context, Item source, Key target) {
        CacheSession session = context.session();
        Item written = context.otherItem();
        int length = source.valueLength();
        if (source.isTree()) {
            session.copyTree(context.keyAt(0), source, target, written, source.expireAtMillis());
        } else if (source.type() == ItemType.HASH) {
            // Its fields may have expiry times, which the write inspects.
            session.set(target, ItemType.HASH, source.encoding(), source.valueAddress(), length,
                    source.expireAtMillis());
        } else {
            session.put(target, written, source.type(), source.encoding(), length, length, source.expireAtMillis());
            Memory.copy(source.valueAddress(), written.valueAddress(), length);
            session.changed(target, Change.SET);
        }
    }
}
