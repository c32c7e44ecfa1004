package io.varve.server.command.key;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Arguments;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.DatabaseNumber;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on keys whatever they hold: delete, look, copy, move, rename. Immutable: static handlers.
 *
 * @see ExpiryCommands
 * @see ScanCommands
 */
public final class KeyCommands {
    private static final String TRANSFER = "O(1), or O(N) in a large collection that goes to another shard";
    private static final String SAME_OBJECT = "ERR source and destination objects are the same";

    private KeyCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(keys("del", -2, "1.0.0", "Deletes keys").keys(1, -1, 1).keysInTurn().access("RM delete")
                .flags(WRITE)
                .tips("request_policy:multi_shard", "response_policy:agg_sum").complexity("O(N) in the keys")
                .handler(KeyCommands::del));
        table.add(keys("unlink", -2, "4.0.0", "Deletes keys, whose memory is reclaimed later").keys(1, -1, 1)
                .keysInTurn()
                .access("RM delete").flags(WRITE, FAST).tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) in the keys").handler(KeyCommands::del));
        table.add(keys("exists", -2, "1.0.0", "Counts those keys that exist").keys(1, -1, 1).keysInTurn().access("RO")
                .flags(READONLY, FAST)
                .tips("request_policy:multi_shard", "response_policy:agg_sum").complexity("O(N) in the keys")
                .handler(KeyCommands::exists));
        table.add(keys("touch", -2, "3.2.1", "Renews the access clocks of keys").keys(1, -1, 1).keysInTurn()
                .access("RO").flags(READONLY, FAST).tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) in the keys").handler(KeyCommands::touch));
        table.add(
                keys("type", 2, "1.0.0", "Answers the type of a key's value").key(1).access("RO").flags(READONLY, FAST)
                        .handler(KeyCommands::type));
        table.add(keys("copy", -3, "6.2.0", "Copies a key's value and expiry time to another key").keys(1, 2, 1)
                .access("RO access", "OW update").flags(WRITE, DENYOOM).complexity("O(N) in the value")
                .allOrNothing().targetDatabase(KeyCommands::databaseOfCopy).handler(KeyCommands::copy));
        table.add(keys("move", 3, "1.0.0", "Moves a key to another database").key(1).access("RW access update")
                .flags(WRITE, FAST)
                .targetDatabase((words, count) -> DatabaseNumber.of(count, words.argumentAddress(2),
                        words.argumentLength(2)))
                .handler(KeyCommands::move));
        table.add(keys("rename", 3, "1.0.0", "Renames a key, over one of that name").keys(1, 2, 1)
                .access("RW access delete", "OW update").flags(WRITE).allOrNothing().complexity(TRANSFER)
                .handler(call -> rename(call, false)));
        table.add(keys("renamenx", 3, "1.0.0", "Renames a key unless the new name exists").keys(1, 2, 1)
                .access("RW access delete", "OW insert").flags(WRITE, FAST).allOrNothing().complexity(TRANSFER)
                .handler(call -> rename(call, true)));
        ExpiryCommands.addTo(table);
    }

    /** Starts the description of a command on keys of any type. */
    public static CommandBuilder keys(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).categories("@keyspace").group("generic").since(since)
                .summary(summary);
    }

    private static void del(Invocation call) {
        int deleted = 0;
        for (int i = 0; i < call.keyCount(); i++) {
            if (call.session().delete(call.keyAt(i))) {
                call.events().tell(KeyEvent.DEL, call.keyAt(i));
                deleted++;
            }
        }
        call.reply().integer(deleted);
    }

    private static void exists(Invocation call) {
        int found = 0;
        for (int i = 0; i < call.keyCount(); i++) {
            if (KeyLookup.findUntouched(call, call.keyAt(i), call.item())) {
                found++;
            }
        }
        call.reply().integer(found);
    }

    private static void touch(Invocation call) {
        // TOUCH renews the clock even where the client asked to leave it alone.
        call.session().touching(true);
        int found = 0;
        for (int i = 0; i < call.keyCount(); i++) {
            if (call.session().find(call.keyAt(i), call.item())) {
                found++;
            }
        }
        call.session().touching(!call.client().noTouch());
        call.reply().integer(found);
    }

    private static void type(Invocation call) {
        Item item = call.item();
        boolean found = KeyLookup.findUntouched(call, call.keyAt(0), item);
        call.reply().simple(found ? item.type().redisName() : "none");
    }

    // --- from one key to another

    private static void copy(Invocation call) {
        boolean replace = false;
        int database = call.database();
        for (int i = 3; i < call.argumentCount(); i++) {
            if (call.argumentIs(i, "REPLACE")) {
                replace = true;
            } else if (call.argumentIs(i, "DB") && i + 1 < call.argumentCount()) {
                database = DatabaseNumber.read(call, ++i);
                if (database < 0) {
                    return;
                }
            } else {
                call.syntaxError();
                return;
            }
        }
        if (database == call.database() && sameName(call)) {
            call.reply().error(SAME_OBJECT);
            return;
        }
        Key target = call.keyInDatabase(2, database);
        Item source = call.item();
        if (!call.session().find(call.keyAt(0), source)) {
            call.reply().integer(0);
            return;
        }
        boolean present = call.session().findForWriting(target, call.otherItem());
        if (present && !replace) {
            call.reply().integer(0);
            return;
        }
        write(call, source, target);
        tellIfReplaced(call, present, target);
        call.events().tell(KeyEvent.COPY_TO, target);
        call.reply().integer(1);
    }

    /** As {@link #copy} reads it; what is refused there does not matter. */
    private static int databaseOfCopy(Arguments words, int count) {
        int database = -1;
        for (int i = 3; i + 1 < words.argumentCount(); i++) {
            if (words.argumentIs(i, "DB")) {
                i++;
                database = DatabaseNumber.of(count, words.argumentAddress(i), words.argumentLength(i));
            }
        }
        return database;
    }

    private static void move(Invocation call) {
        int database = DatabaseNumber.read(call, 2);
        if (database < 0) {
            return;
        }
        if (database == call.database()) {
            call.reply().error(SAME_OBJECT);
            return;
        }
        CacheSession session = call.session();
        Item source = call.item();
        Key target = call.keyInDatabase(1, database);
        if (!session.findForWriting(call.keyAt(0), source) || session.findForWriting(target, call.otherItem())) {
            call.reply().integer(0);
            return;
        }
        transfer(call, source, target);
        call.events().tell(KeyEvent.MOVE_FROM, call.keyAt(0));
        call.events().tell(KeyEvent.MOVE_TO, target);
        call.reply().integer(1);
    }

    private static void rename(Invocation call, boolean keepTarget) {
        CacheSession session = call.session();
        Item source = call.item();
        if (!session.findForWriting(call.keyAt(0), source)) {
            call.reply().error("ERR no such key");
            return;
        }
        boolean renamed = true;
        if (sameName(call)) {
            renamed = !keepTarget;
        } else {
            Key target = call.keyAt(1);
            boolean present = session.findForWriting(target, call.otherItem());
            renamed = !present || !keepTarget;
            if (renamed) {
                transfer(call, source, target);
                tellIfReplaced(call, present, target);
                call.events().tell(KeyEvent.RENAME_FROM, call.keyAt(0));
                call.events().tell(KeyEvent.RENAME_TO, target);
            }
        }
        if (keepTarget) {
            call.reply().integer(renamed ? 1 : 0);
        } else {
            call.reply().ok();
        }
    }

    /** As in Redis, what takes the place of another item is told as one that has come. */
    public static void tellIfReplaced(Invocation call, boolean present, Key target) {
        if (present) {
            call.events().tell(KeyEvent.NEW, target);
        }
    }

    private static boolean sameName(Invocation call) {
        int length = call.argumentLength(1);
        return length == call.argumentLength(2)
                && Memory.equal(call.argumentAddress(1), call.argumentAddress(2), length);
    }

    /** Gives an item, with its expiry time, to another key. */
    private static void transfer(Invocation call, Item source, Key target) {
        if (source.isTree()) {
            inItsClass(call, source, () -> call.session().moveTree(call.keyAt(0), source, target, call.otherItem(),
                    source.expireAtMillis()));
            return;
        }
        inItsClass(call, source, () -> {
            if (!call.session().moveRun(call.keyAt(0), source, target, call.otherItem())) {
                writeCopy(call, source, target);
                call.session().delete(call.keyAt(0));
            }
        });
    }

    /** Puts a copy of an item, with its expiry time and its class of penalty, under another key; the item stays where it is meanwhile. */
    private static void write(Invocation call, Item source, Key target) {
        inItsClass(call, source, () -> writeCopy(call, source, target));
    }

    /** Has an item written that belongs into the class of another, unless nothing is known of that. */
    private static void inItsClass(Invocation call, Item source, Runnable write) {
        CacheSession session = call.session();
        int known = session.penaltyClass(source);
        session.writesInto(known == 0 ? call.client().writesInto() : known);
        try {
            write.run();
        } finally {
            session.writesInto(call.client().writesInto());
        }
    }

    private static void writeCopy(Invocation call, Item source, Key target) {
        CacheSession session = call.session();
        Item written = call.otherItem();
        int length = source.valueLength();
        if (source.isTree()) {
            session.copyTree(call.keyAt(0), source, target, written, source.expireAtMillis());
        } else if (source.type() == ItemType.HASH) {
            // Its fields may have times, by which it is looked at.
            session.set(target, ItemType.HASH, source.encoding(), source.valueAddress(), length,
                    source.expireAtMillis());
        } else {
            session.put(target, written, source.type(), source.encoding(), length, length, source.expireAtMillis());
            Memory.copy(source.valueAddress(), written.valueAddress(), length);
            session.changed(target, Change.SET);
        }
    }
}
