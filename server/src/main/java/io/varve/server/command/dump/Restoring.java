package io.varve.server.command.dump;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.collection.PackedIntegers;
import io.varve.memory.collection.PackedSet;
import io.varve.memory.collection.SetTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
import io.varve.server.command.list.ListResult;
import io.varve.server.command.set.SetMeasure;
import io.varve.server.command.sortedset.SortedSetResult;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.TextMemory;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.rdb.ValueSink;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * How RESTORE takes a value from a payload: its elements are noted first, and only if all of them are good the key is written, in one
 * step. Confined to its event loop; reused from command to command, each of which gives the memory back.
 */
final class Restoring implements ValueSink {
    private static final Workspace<Restoring> WORKSPACE = Workspace.madeBy(_ -> new Restoring());

    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final TextMemory texts = new TextMemory();
    /** The elements; of a field the note is where its value is, the score how long. */
    private final MemberList elements = new MemberList();
    private final MemberIndex index = new MemberIndex(elements);
    /** Of fields: their times, 8 bytes each, once one has a time. */
    private final WorkMemory times = new WorkMemory();
    private boolean anyTimes;
    private final WorkMemory value = new WorkMemory();
    private final Item item = new Item();
    private final HashTree hashTree = new HashTree();
    private final SetTree setTree = new SetTree();
    private final SetMeasure measure = new SetMeasure();
    private final ListResult list = new ListResult();
    private final SortedSetResult sortedSet = new SortedSetResult();
    private final PayloadReader reader = new PayloadReader(this::take);
    private @Nullable Invocation call;
    private Kind kind = Kind.STRING;
    private int payloadBytes;

    /** That of an invocation. */
    static Restoring of(Invocation call) {
        return WORKSPACE.of(call);
    }

    private long take(int bytes) {
        return texts.take(call().cache(), bytes);
    }

    private Invocation call() {
        return java.util.Objects.requireNonNull(call);
    }

    /**
     * Reads the payload.
     *
     * @throws CorruptPayloadException if it holds no value
     */
    void read(Invocation command, long payload, int length) {
        call = command;
        payloadBytes = length;
        reader.read(payload, length, this);
        if (elements.count() == 0) {
            corrupt();
        }
    }

    /** What to make room for when there was none for a part of it: all that is held is given back before the command runs again. */
    CacheFullException inAll(CacheFullException full) {
        return full.inAll(2 * (full.bytes() + texts.heldBytes() + elements.heldBytes() + index.heldBytes()
                + times.heldBytes() + value.heldBytes() + payloadBytes));
    }

    void release() {
        texts.release();
        elements.release();
        index.release();
        times.release();
        anyTimes = false;
        value.release();
        call = null;
    }

    private static void corrupt() {
        throw new CorruptPayloadException();
    }

    // --- what is read

    @Override
    public void begin(Kind what) {
        kind = what;
    }

    @Override
    public void element(long address, int length) {
        if (kind == Kind.SET) {
            addOnce(address, length);
        } else {
            elements.add(call().cache(), address, length, 0, 0);
        }
    }

    @Override
    public void member(long address, int length, double score) {
        elements.score(addOnce(address, length), score);
    }

    @Override
    public void field(long field, int fieldLength, long valueAddress, int valueLength, long time) {
        int added = addOnce(field, fieldLength);
        elements.note(added, valueAddress);
        elements.score(added, valueLength);
        if (time != Item.NEVER && !anyTimes) {
            anyTimes = true;
            times.require(call().cache(), (added + 1L) * Long.BYTES);
            for (int i = 0; i < added; i++) {
                Memory.putLong(times.address() + (long) i * Long.BYTES, Item.NEVER);
            }
        }
        if (anyTimes) {
            times.require(call().cache(), (added + 1L) * Long.BYTES);
            Memory.putLong(times.address() + (long) added * Long.BYTES,
                    Math.min(time, TimedHashLayout.LATEST_TIME));
        }
    }

    private long time(int index) {
        return anyTimes ? Memory.getLong(times.address() + (long) index * Long.BYTES) : Item.NEVER;
    }

    private int addOnce(long address, int length) {
        int added = elements.count();
        if (index.findOrAdd(call().cache(), call().session(), address, length) != added) {
            corrupt();
        }
        return added;
    }

    // --- what is written

    /**
     * Puts the value under a key, whatever that held.
     *
     * @throws CacheFullException if there is no room; the key is then as it was
     */
    void store(Key key, long expireAtMillis) {
        Invocation command = call();
        switch (kind) {
            case STRING -> command.session().set(key, ItemType.STRING, Encodings.STRING_BY_CONTENT,
                    elements.address(0), elements.length(0), expireAtMillis);
            case LIST -> list.store(command, key, elements, expireAtMillis);
            case SORTED_SET -> {
                elements.sort(command.cache(), MemberList.Order.SCORE);
                sortedSet.store(command, key, elements, expireAtMillis);
            }
            case SET -> storeSet(command, key, expireAtMillis);
            case HASH -> storeHash(command, key, expireAtMillis);
        }
    }

    private long require(Invocation command, long bytes) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        value.require(command.cache(), bytes);
        return value.address();
    }

    private void storeSet(Invocation command, Key key, long expireAtMillis) {
        measure.clear();
        long bytes = PackedSet.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            measure.add(elements.address(i), elements.length(i));
            bytes += PackedSet.memberBytes(elements.length(i));
        }
        int encoding = measure.encoding(command.server().config());
        if (encoding == Encodings.SET_INTEGERS) {
            storeIntegers(command, key, expireAtMillis);
        } else if (measure.staysPacked(command.server().config(), bytes)) {
            long set = require(command, bytes);
            PackedSet.clear(set);
            int length = PackedSet.EMPTY_BYTES;
            for (int i = 0; i < elements.count(); i++) {
                length = PackedSet.append(set, length, elements.address(i), elements.length(i));
            }
            command.session().set(key, ItemType.SET, encoding, set, length, expireAtMillis);
        } else {
            command.session().makeTree(key, item, setTree, expireAtMillis, () -> {
                for (int i = 0; i < elements.count(); i++) {
                    setTree.add(elements.address(i), elements.length(i));
                }
                setTree.flags(encoding);
            });
            command.session().changed(key, Change.SET);
        }
    }

    private void storeIntegers(Invocation command, Key key, long expireAtMillis) {
        long set = require(command, PackedIntegers.bytes(elements.count(), measure.width()));
        PackedIntegers.clear(set, measure.width());
        int length = PackedIntegers.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            long number = Numbers.toLong(elements.address(i), elements.length(i));
            length = PackedIntegers.add(set, length, -1 - PackedIntegers.indexOf(set, length, number), number);
        }
        command.session().set(key, ItemType.SET, Encodings.SET_INTEGERS, set, length, expireAtMillis);
    }

    private void storeHash(Invocation command, Key key, long expireAtMillis) {
        int word = anyTimes ? TimedHashLayout.WORD_BYTES : 0;
        long bytes = word + (long) PackedHash.EMPTY_BYTES;
        int longest = elements.longest();
        for (int i = 0; i < elements.count(); i++) {
            int valueLength = (int) elements.score(i);
            bytes += PackedHash.entryBytes(elements.length(i), valueLength, time(i));
            longest = Math.max(longest, valueLength);
        }
        boolean large = elements.count() > command.server().config().hashMaxListpackEntries()
                || longest > command.server().config().hashMaxListpackValueBytes();
        int encoding = large ? Encodings.HASH_HASHTABLE : Encodings.HASH_LISTPACK;
        if (!command.server().config().staysPacked(elements.count(), bytes)
                && (large || !command.server().config().staysListpackHash(elements.count(), bytes))) {
            makeHashTree(command, key, encoding, expireAtMillis);
            return;
        }
        long start = require(command, bytes);
        if (anyTimes) {
            TimedHashLayout.write(start, expireAtMillis, encoding);
        }
        long hash = start + word;
        PackedHash.clear(hash);
        int length = PackedHash.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            length = PackedHash.append(hash, length, elements.address(i), elements.length(i), elements.note(i),
                    (int) elements.score(i), time(i));
        }
        command.session().set(key, ItemType.HASH, anyTimes ? Item.TIMED : encoding, start, word + length,
                expireAtMillis);
    }

    private void makeHashTree(Invocation command, Key key, int encoding, long expireAtMillis) {
        hashTree.keepTimes(anyTimes);
        command.session().makeTree(key, item, hashTree, expireAtMillis, () -> {
            for (int i = 0; i < elements.count(); i++) {
                hashTree.put(elements.address(i), elements.length(i), elements.note(i), (int) elements.score(i),
                        time(i));
            }
            hashTree.flags(encoding);
        });
        command.session().changed(key, Change.SET);
    }
}
