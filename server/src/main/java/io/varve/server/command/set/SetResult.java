package io.varve.server.command.set;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.SetTree;
import io.varve.memory.collection.packed.PackedIntegers;
import io.varve.memory.collection.packed.PackedSet;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.set.SetAlgebra.Operation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Stores a set as the result of SINTERSTORE and its relatives. Confined to its event loop; reused from command to
 * command.
 *
 * <p>Its members may be part of the key's old value, which stays until the result is complete. A small result is
 * assembled in work memory as a packed set. If it exceeds the packed limits, the iteration restarts and fills a tree.
 */
final class SetResult {
    private final Item item = new Item();
    private final SetTree tree = new SetTree();
    private final SetMeasure measure = new SetMeasure();
    private final WorkMemory memory = new WorkMemory();
    private @Nullable CommandContext context;
    private int length;

    /**
     * Stores the result of an operation under the key and replaces any old value; without members deletes the key.
     *
     * @return number of members
     * @throws io.varve.memory.item.CacheFullException if memory is full; the key is then unchanged
     */
    long store(CommandContext command, Key key, SetAlgebra algebra, Operation operation) {
        context = command;
        CacheSession session = command.session();
        try {
            memory.require(command.cache(), PackedSet.EMPTY_BYTES);
            PackedSet.clear(memory.address());
            length = PackedSet.EMPTY_BYTES;
            measure.clear();
            boolean isWhole = algebra.walk(command, operation, this::pack);
            if (isWhole && measure.count() == 0) {
                if (session.delete(key)) {
                    command.events().emit(KeyEvent.DEL, key);
                    command.countChanges(1);
                }
                return 0;
            }
            int encoding = isWhole ? encoding(algebra) : Encodings.SET_HASHTABLE;
            if (isWhole && encoding == Encodings.SET_INTEGERS) {
                putIntegers(key);
            } else if (isWhole && measure.staysPacked(config(), length)) {
                session.put(key, item, ItemType.SET, encoding, length, length, Item.NEVER);
                Memory.copy(memory.address(), item.valueAddress(), length);
            } else {
                makeTree(key, algebra, operation);
            }
            session.changed(key, Change.SET);
            command.events().emit(switch (operation) {
                case INTERSECTION -> KeyEvent.SINTERSTORE;
                case UNION -> KeyEvent.SUNIONSTORE;
                case DIFFERENCE -> KeyEvent.SDIFFSTORE;
            }, key);
            command.countChanges(1);
            return measure.count();
        } finally {
            memory.release();
        }
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    private ServerConfig config() {
        return call().server().config();
    }

    /** Adds a member to the packed result; false if the result exceeds the packed limits. */
    private boolean pack(SetView member) {
        measure.add(member);
        long needed = length + PackedSet.memberBytes(member.memberLength());
        if (!measure.staysPacked(config(), needed) && measure.encoding(config()) != Encodings.SET_INTEGERS) {
            return false;
        }
        PackedSetEdit.checked(needed);
        memory.require(call().cache(), needed);
        length = PackedSet.append(memory.address(), length, member.memberAddress(), member.memberLength());
        return true;
    }

    /** The encoding for OBJECT ENCODING: a set after removals keeps the encoding it had before them. */
    private int encoding(SetAlgebra algebra) {
        int encoding = measure.encoding(config());
        if (!algebra.removesFromFirst()) {
            return encoding;
        }
        SetView first = algebra.first();
        if (SetMeasure.isBeyond(config(), first.size())) {
            return Encodings.SET_HASHTABLE;
        }
        SetMeasure all = new SetMeasure();
        all.clear();
        for (boolean more = first.first(); more; more = first.next()) {
            all.add(first);
        }
        return all.encoding(config());
    }

    private void putIntegers(Key key) {
        int bytes = (int) PackedIntegers.bytes(measure.count(), measure.width());
        call().session().put(key, item, ItemType.SET, Encodings.SET_INTEGERS, bytes, bytes, Item.NEVER);
        long integers = item.valueAddress();
        PackedIntegers.clear(integers, measure.width());
        int integersLength = PackedIntegers.EMPTY_BYTES;
        long members = memory.address();
        for (long member = PackedSet.first(members, length); member != PackedSet.NONE; member = PackedSet.next(members,
                length, member)) {
            long value = Numbers.toLong(PackedSet.address(member), PackedSet.length(member));
            integersLength = PackedIntegers.add(integers, integersLength,
                    -1 - PackedIntegers.indexOf(integers, integersLength, value), value);
        }
        assert integersLength == bytes : integersLength + " bytes of " + bytes;
    }

    private void makeTree(Key key, SetAlgebra algebra, Operation operation) {
        memory.release();
        call().session().makeTree(key, item, tree, Item.NEVER, () -> {
            measure.clear();
            algebra.walkForAll(call(), operation, member -> {
                if (tree.add(member.memberAddress(), member.memberLength())) {
                    measure.add(member);
                }
                return true;
            });
            tree.flags(encoding(algebra));
        });
    }
}
