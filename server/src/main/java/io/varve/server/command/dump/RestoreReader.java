package io.varve.server.command.dump;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.SetTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.collection.packed.PackedIntegers;
import io.varve.memory.collection.packed.PackedSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
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
import io.varve.server.rdb.StreamSink;
import io.varve.server.rdb.ValueSink;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Reads a serialized value, of RESTORE or of an RDB file. Confined to its event loop or to the thread that loads;
 * reused from value to value, after each of which the memory is released. It collects all elements first, and writes
 * the key in one step only if all are valid.
 */
public final class RestoreReader implements ValueSink {
    private static final CommandScratch<RestoreReader> SCRATCH = CommandScratch.madeBy(_ -> new RestoreReader());

    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final TextMemory texts = new TextMemory();
    /**
     * The elements. For a hash field, the note is the address of its value and the score is the length of its value.
     */
    private final MemberList elements = new MemberList();
    private final MemberIndex index = new MemberIndex(elements);
    /** The expiry times of hash fields, 8 bytes each, once any field has one. */
    private final WorkMemory times = new WorkMemory();
    private boolean anyTimes;
    private final WorkMemory value = new WorkMemory();
    private final Item item = new Item();
    private final HashTree hashTree = new HashTree();
    private final SetTree setTree = new SetTree();
    private final SetMeasure measure = new SetMeasure();
    private final ListResult list = new ListResult();
    private final SortedSetResult sortedSet = new SortedSetResult();
    private final StreamResult stream = new StreamResult();
    private final PayloadReader reader = new PayloadReader(this::take);
    private @Nullable CommandContext context;
    private Kind kind = Kind.STRING;
    private long payloadBytes;

    /** The instance of a context. */
    public static RestoreReader of(CommandContext context) {
        return SCRATCH.of(context);
    }

    private long take(int bytes) {
        return texts.take(call().cache(), bytes);
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    /**
     * Reads the payload.
     *
     * @throws CorruptPayloadException if it holds no value
     */
    void read(CommandContext command, long payload, int length) {
        context = command;
        payloadBytes = length;
        reader.read(payload, length, this);
        if (isEmpty()) {
            corrupt();
        }
    }

    /**
     * Reads a value of an RDB file.
     *
     * @param type as {@link io.varve.server.rdb.RdbReader#type} gives it
     * @return false if it is a collection without elements, which no key has
     * @throws CorruptPayloadException if it is damaged
     */
    public boolean read(CommandContext command, int type, long address, long length) {
        context = command;
        // The file is no memory that an eviction would have to make free.
        payloadBytes = 0;
        reader.readValue(type, address, length, this);
        return !isEmpty();
    }

    /** Whether it is a collection without elements, which no key has; a stream needs none. */
    private boolean isEmpty() {
        return elements.count() == 0 && kind != Kind.STREAM;
    }

    /** The memory to free after an allocation failed. The command releases everything it holds before it runs again. */
    public CacheFullException inAll(CacheFullException full) {
        return full.inAll(2 * (full.bytes() + texts.heldBytes() + elements.heldBytes() + index.heldBytes()
                + times.heldBytes() + value.heldBytes() + stream.heldBytes() + payloadBytes));
    }

    /** Releases the memory of the value that was read last. */
    public void release() {
        texts.release();
        elements.release();
        index.release();
        times.release();
        anyTimes = false;
        value.release();
        stream.release();
        context = null;
    }

    private static void corrupt() {
        throw new CorruptPayloadException();
    }

    // --- read

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

    @Override
    public StreamSink stream() {
        stream.begin(call());
        return stream;
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

    // --- write

    /**
     * Stores the value under a key and replaces any old value.
     *
     * @throws CacheFullException if memory is full; the key is then unchanged
     */
    public void store(Key key, long expireAtMillis) {
        CommandContext command = call();
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
            case STREAM -> stream.store(key, expireAtMillis);
        }
    }

    private long require(CommandContext command, long bytes) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        value.require(command.cache(), bytes);
        return value.address();
    }

    private void storeSet(CommandContext command, Key key, long expireAtMillis) {
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

    private void storeIntegers(CommandContext command, Key key, long expireAtMillis) {
        long set = require(command, PackedIntegers.bytes(elements.count(), measure.width()));
        PackedIntegers.clear(set, measure.width());
        int length = PackedIntegers.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            long number = Numbers.toLong(elements.address(i), elements.length(i));
            length = PackedIntegers.add(set, length, -1 - PackedIntegers.indexOf(set, length, number), number);
        }
        command.session().set(key, ItemType.SET, Encodings.SET_INTEGERS, set, length, expireAtMillis);
    }

    private void storeHash(CommandContext command, Key key, long expireAtMillis) {
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

    private void makeHashTree(CommandContext command, Key key, int encoding, long expireAtMillis) {
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
