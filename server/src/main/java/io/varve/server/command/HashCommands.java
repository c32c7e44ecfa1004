package io.varve.server.command;

import java.nio.charset.StandardCharsets;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on the fields of hashes. Immutable: static handlers.
 *
 * @see HashWalkCommands for those that answer many fields at a time
 */
public final class HashCommands {
    private HashCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(hash("hset", -4, "2.0.0", "Sets fields of a hash").access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(N) in the fields").handler(call -> set(call, false)));
        table.add(hash("hmset", -4, "2.0.0", "Sets fields of a hash").access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(N) in the fields").handler(call -> set(call, true)));
        table.add(hash("hsetnx", 4, "2.0.0", "Sets a field of a hash unless it exists")
                .access("RW insert").flags(WRITE, DENYOOM, FAST).handler(HashCommands::setnx));
        table.add(hash("hget", 3, "2.0.0", "Answers the value of a hash's field").access("RO access")
                .flags(READONLY, FAST)
                .handler(HashCommands::get));
        table.add(hash("hmget", -3, "2.0.0", "Answers the values of several fields of a hash")
                .access("RO access").flags(READONLY, FAST).complexity("O(N) in the fields")
                .handler(HashCommands::mget));
        table.add(hash("hdel", -3, "2.0.0", "Deletes fields of a hash").access("RW delete").flags(WRITE, FAST)
                .complexity("O(N) in the fields").handler(HashCommands::del));
        table.add(hash("hlen", 2, "2.0.0", "Counts the fields of a hash").access("RO").flags(READONLY, FAST)
                .handler(HashCommands::len));
        table.add(hash("hexists", 3, "2.0.0", "Tells whether a hash has a field").access("RO").flags(READONLY, FAST)
                .handler(HashCommands::exists));
        table.add(hash("hstrlen", 3, "3.2.0", "Answers the length of the value of a hash's field")
                .access("RO").flags(READONLY, FAST).handler(HashCommands::strlen));
        table.add(hash("hincrby", 4, "2.0.0", "Adds to the number in a hash's field").access("RW access update")
                .flags(WRITE, DENYOOM, FAST)
                .handler(HashCommands::incrby));
        table.add(hash("hincrbyfloat", 4, "2.6.0", "Adds to the floating-point number in a hash's field")
                .access("RW access update").flags(WRITE, DENYOOM, FAST).handler(HashCommands::incrbyfloat));
        HashWalkCommands.addTo(table);
    }

    static CommandSpec.Builder hash(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).key(1).categories("@hash").group("hash").since(since)
                .summary(summary);
    }

    // --- write

    private static void set(Invocation call, boolean answersOk) {
        if (call.argumentCount() % 2 == 1) {
            call.wrongArgumentCount();
            return;
        }
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int created;
        if (call.argumentCount() == 4) {
            created = HashFields.put(call, item, found == Found.PRESENT, call.argumentAddress(2),
                    call.argumentLength(2), call.argumentAddress(3), call.argumentLength(3));
        } else {
            created = HashFields.putArguments(call, item, found == Found.PRESENT);
        }
        if (answersOk) {
            call.reply().ok();
        } else {
            call.reply().integer(created);
        }
    }

    private static void setnx(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.PRESENT && entry(call, item, 2) != PackedHash.NONE) {
            call.reply().integer(0);
            return;
        }
        HashFields.put(call, item, found == Found.PRESENT, call.argumentAddress(2), call.argumentLength(2),
                call.argumentAddress(3), call.argumentLength(3));
        call.reply().integer(1);
    }

    private static void del(Invocation call) {
        CacheSession session = call.session();
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int deleted = 0;
        if (found == Found.PRESENT) {
            HashFields.makeRoom(call, item, item.encoding(), 0);
            long hash = item.valueAddress();
            int length = item.valueLength();
            for (int i = 2; i < call.argumentCount() && length > PackedHash.EMPTY_BYTES; i++) {
                long entry = PackedHash.find(hash, length, call.argumentAddress(i), call.argumentLength(i));
                if (entry != PackedHash.NONE) {
                    length = PackedHash.remove(hash, length, entry);
                    deleted++;
                }
            }
            if (length == PackedHash.EMPTY_BYTES) {
                session.delete(key);
            } else if (deleted > 0) {
                session.resize(key, item, item.encoding(), length, length);
                session.changed(key, Change.SET);
            }
        }
        call.reply().integer(deleted);
    }

    private static void incrby(Invocation call) {
        if (!call.requireLong(3)) {
            return;
        }
        long delta = call.longValue();
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        long old = 0;
        long entry = found == Found.PRESENT ? entry(call, item, 2) : PackedHash.NONE;
        if (entry != PackedHash.NONE) {
            if (!call.parseLong(PackedHash.valueAddress(entry), PackedHash.valueLength(entry))) {
                call.reply().error("ERR hash value is not an integer");
                return;
            }
            old = call.longValue();
        }
        long sum = old + delta;
        if (((old ^ sum) & (delta ^ sum)) < 0) {
            call.reply().error(StringEditCommands.OVERFLOW);
            return;
        }
        long text = call.formatLong(sum);
        HashFields.put(call, item, found == Found.PRESENT, call.argumentAddress(2), call.argumentLength(2), text,
                call.formattedLength());
        call.reply().integer(sum);
    }

    private static void incrbyfloat(Invocation call) {
        LongDouble delta = LongDouble.parse(call.argumentAddress(3), call.argumentLength(3));
        if (delta.kind() == LongDouble.Kind.INVALID) {
            call.reply().error(Invocation.NOT_A_FLOAT);
            return;
        }
        if (delta.kind() == LongDouble.Kind.INFINITE) {
            call.reply().error("ERR value is NaN or Infinity");
            return;
        }
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        long entry = found == Found.PRESENT ? entry(call, item, 2) : PackedHash.NONE;
        LongDouble old = entry == PackedHash.NONE
                ? LongDouble.ZERO
                : LongDouble.parse(PackedHash.valueAddress(entry), PackedHash.valueLength(entry));
        if (old.kind() == LongDouble.Kind.INVALID) {
            call.reply().error("ERR hash value is not a float");
            return;
        }
        LongDouble sum = old.plus(delta);
        if (sum.kind() != LongDouble.Kind.FINITE) {
            call.reply().error(StringEditCommands.NOT_FINITE);
            return;
        }
        byte[] text = sum.text().getBytes(StandardCharsets.US_ASCII);
        long address = call.scratch(text);
        HashFields.put(call, item, found == Found.PRESENT, call.argumentAddress(2), call.argumentLength(2), address,
                text.length);
        call.reply().bulk(address, text.length);
    }

    // --- read

    /** The entry of the field that an argument names, in a hash that was found. */
    private static long entry(Invocation call, Item item, int argument) {
        return PackedHash.find(item.valueAddress(), item.valueLength(), call.argumentAddress(argument),
                call.argumentLength(argument));
    }

    /** The entry of the field at argument 2, or NONE; {@code -1} after the error for a wrong type. */
    private static long lookUp(Invocation call) {
        Item item = call.item();
        return switch (KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH)) {
            case WRONG_TYPE -> -1;
            case MISSING -> PackedHash.NONE;
            case PRESENT -> entry(call, item, 2);
        };
    }

    private static void get(Invocation call) {
        long entry = lookUp(call);
        if (entry != -1) {
            replyValue(call.reply(), entry);
        }
    }

    private static void exists(Invocation call) {
        long entry = lookUp(call);
        if (entry != -1) {
            call.reply().integer(entry == PackedHash.NONE ? 0 : 1);
        }
    }

    private static void strlen(Invocation call) {
        long entry = lookUp(call);
        if (entry != -1) {
            call.reply().integer(entry == PackedHash.NONE ? 0 : PackedHash.valueLength(entry));
        }
    }

    private static void replyValue(ReplyWriter reply, long entry) {
        if (entry == PackedHash.NONE) {
            reply.nil();
        } else {
            reply.bulk(PackedHash.valueAddress(entry), PackedHash.valueLength(entry));
        }
    }

    private static void mget(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int fields = call.argumentCount() - 2;
        call.reply().array(fields);
        for (int i = 0; i < fields; i++) {
            replyValue(call.reply(), found == Found.PRESENT ? entry(call, item, 2 + i) : PackedHash.NONE);
        }
    }

    private static void len(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH);
        if (found != Found.WRONG_TYPE) {
            call.reply().integer(found == Found.PRESENT ? PackedHash.count(item.valueAddress()) : 0);
        }
    }
}
