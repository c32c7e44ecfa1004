package io.varve.server.command.hash;

import java.nio.charset.StandardCharsets;

import io.varve.memory.item.Item;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.text.LongDouble;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

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
        HashExpiryCommands.addTo(table);
    }

    static CommandBuilder hash(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).key(1).categories("@hash").group("hash").since(since)
                .summary(summary);
    }

    // --- write

    private static void set(Invocation call, boolean answersOk) {
        if (call.argumentCount() % 2 == 1) {
            call.wrongArgumentCount();
            return;
        }
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long created;
        if (call.argumentCount() == 4) {
            created = putArguments(call, hash) ? 1 : 0;
        } else {
            created = hash.putArguments(2);
        }
        call.events().tell(KeyEvent.HSET, call.keyAt(0));
        call.countChanges((call.argumentCount() - 2) / 2);
        if (answersOk) {
            call.reply().ok();
        } else {
            call.reply().integer(created);
        }
    }

    /** Puts the field and the value of arguments 2 and 3 into the hash; whether the field is new. */
    private static boolean putArguments(Invocation call, HashValue hash) {
        return hash.put(call.argumentAddress(2), call.argumentLength(2), call.argumentAddress(3),
                call.argumentLength(3));
    }

    private static void setnx(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        boolean there = hash.findArgument(2);
        if (!there) {
            putArguments(call, hash);
            call.events().tell(KeyEvent.HSET, call.keyAt(0));
            call.countChanges(1);
        }
        call.reply().integer(there ? 0 : 1);
    }

    private static void del(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) != Found.WRONG_TYPE) {
            long removed = hash.removeArguments(2);
            if (removed > 0) {
                hash.tellRemoval();
                call.countChanges(removed);
            }
            call.reply().integer(removed);
        }
    }

    private static void incrby(Invocation call) {
        if (!call.requireLong(3)) {
            return;
        }
        long delta = call.longValue();
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long old = 0;
        long time = Item.NEVER;
        if (hash.findArgument(2)) {
            time = hash.time();
            if (!call.parseLong(hash.valueAddress(), hash.valueLength())) {
                call.reply().error("ERR hash value is not an integer");
                return;
            }
            old = call.longValue();
        }
        long sum = old + delta;
        if (((old ^ sum) & (delta ^ sum)) < 0) {
            call.reply().error(Errors.OVERFLOW);
            return;
        }
        long text = call.formatLong(sum);
        hash.put(call.argumentAddress(2), call.argumentLength(2), text, call.formattedLength(), time);
        call.events().tell(KeyEvent.HINCRBY, call.keyAt(0));
        call.countChanges(1);
        call.reply().integer(sum);
    }

    private static void incrbyfloat(Invocation call) {
        LongDouble delta = LongDouble.parse(call.argumentAddress(3), call.argumentLength(3));
        if (delta.kind() == LongDouble.Kind.INVALID) {
            call.reply().error(Errors.NOT_A_FLOAT);
            return;
        }
        if (delta.kind() == LongDouble.Kind.INFINITE) {
            call.reply().error("ERR value is NaN or Infinity");
            return;
        }
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        boolean there = hash.findArgument(2);
        long time = there ? hash.time() : Item.NEVER;
        LongDouble old = there
                ? LongDouble.parse(hash.valueAddress(), hash.valueLength())
                : LongDouble.ZERO;
        if (old.kind() == LongDouble.Kind.INVALID) {
            call.reply().error("ERR hash value is not a float");
            return;
        }
        LongDouble sum = old.plus(delta);
        if (sum.kind() != LongDouble.Kind.FINITE) {
            call.reply().error(Errors.NOT_FINITE);
            return;
        }
        byte[] text = sum.text().getBytes(StandardCharsets.US_ASCII);
        long address = call.scratch(text);
        hash.put(call.argumentAddress(2), call.argumentLength(2), address, text.length, time);
        call.events().tell(KeyEvent.HINCRBYFLOAT, call.keyAt(0));
        call.countChanges(1);
        call.reply().bulk(address, text.length);
    }

    // --- read

    private static void get(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            replyValue(call, hash, 2);
        }
    }

    private static void exists(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().integer(hash.findArgument(2) ? 1 : 0);
        }
    }

    private static void strlen(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().integer(hash.findArgument(2) ? hash.valueLength() : 0);
        }
    }

    private static void replyValue(Invocation call, HashValue hash, int argument) {
        if (hash.findArgument(argument)) {
            hash.replyValue(call.reply());
        } else {
            call.reply().nil();
        }
    }

    private static void mget(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        call.reply().array(call.argumentCount() - 2);
        for (int i = 2; i < call.argumentCount(); i++) {
            replyValue(call, hash, i);
        }
    }

    private static void len(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().integer(hash.size());
        }
    }
}
