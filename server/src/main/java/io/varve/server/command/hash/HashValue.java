package io.varve.server.command.hash;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Pickable;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;
import io.varve.server.resp.ReplyWriter;

/**
 * A hash value, packed or a tree: its fields, a cursor over them, and changes. Confined to its event loop; reused from
 * command to command, so it allocates nothing. It is valid while the shard of its key is locked.
 *
 * <p>A missing hash has no fields. A write creates the hash if needed, and fails with a
 * {@link io.varve.memory.item.CacheFullException} before any change. A write or removal invalidates the cursor.
 * Removing the last field deletes the key.
 *
 * <p>Fields may have expiry times ({@link HashTimes} changes them); expired fields are invisible.
 *
 * <p>A packed hash that would exceed {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree for good. A
 * tree iterates in the order of the fields' hashes, a packed hash in insertion order.
 */
public final class HashValue implements Pickable {
    private static final CommandScratch<HashValue> SCRATCH = CommandScratch.madeBy(HashValue::new);
    /** A position after all others, so that a seek restarts at the first field. */
    private static final long UNKNOWN_POSITION = Long.MAX_VALUE / 2;

    private final CommandContext context;
    private final Item item = new Item();
    private final PackedHashEdit packed;
    private final HashTree tree = new HashTree();
    private Key key = new Key();
    private boolean present;
    private boolean isTree;
    /** Whether removing the last visible field also removed expired ones. */
    private boolean removedHidden;
    /** Number of fields before the cursor, if iteration moved it there. */
    private long walked;
    /** The encoding that OBJECT ENCODING reports; a tree stores it in its flags. */
    private int encoding;

    /** The writes to a tree. A tree under construction gets the packed fields first, then the write. */
    private final Runnable putOne = this::putOneIntoTree;
    private final Runnable putArguments = this::putArgumentsIntoTree;
    private final TreeFiller fill = this::fillTree;
    private Runnable write = putOne;
    private int argument;
    private long field;
    private int fieldBytes;
    private long value;
    private int valueBytes;
    private long time = Item.NEVER;

    HashValue(CommandContext context) {
        this.context = context;
        packed = new PackedHashEdit(context, item);
    }

    /** The instance of a context. */
    public static HashValue of(CommandContext context) {
        return SCRATCH.of(context);
    }

    // --- for HashTimes

    PackedHashEdit packed() {
        return packed;
    }

    HashTree tree() {
        return tree;
    }

    boolean isTree() {
        return isTree;
    }

    /** Reserves space for expiry times and reopens a tree, which may have moved. */
    void keepTimes(long earliestMillis) {
        if (isTree) {
            context.session().keepFieldTimes(key, item, earliestMillis);
            context.session().open(key, item, tree);
        } else {
            packed.keepTimes(earliestMillis);
        }
    }

    /** Undoes {@link #keepTimes} after an allocation failed and no field has got a time. */
    void forgetTimes() {
        if (context.session().peek(key, item)) {
            context.session().forgetFieldTimes(key, item);
        }
    }

    // --- open

    /** Opens a key for reading; replies the error if it has another type. */
    public Found open(Key at) {
        return opened(at, KeyLookup.find(context, at, item, ItemType.HASH));
    }

    /** Opens a key for writing; replies the error if it has another type. */
    Found openForWriting(Key at) {
        Found found = opened(at, KeyLookup.findForWriting(context, at, item, ItemType.HASH));
        recordHidden();
        return found;
    }

    /** Records the expired fields as removed, before a change of the hash that this has opened. */
    void recordHidden() {
        if (present && hides() && context.isRecording()) {
            recordDue();
        }
    }

    /** Whether any field has expired and was not removed. */
    private boolean hides() {
        return isTree ? tree.hides() : packed.hides();
    }

    /**
     * The command does not find the expired fields. Replicas do, because they do not decide about expiry, and so does
     * who runs the log of a replica again: so the fields are removed there first.
     */
    private void recordDue() {
        int due = isTree ? Math.toIntExact(tree.size() - tree.visible()) : packed.due();
        ChangeRecorder command = context.recordBefore(RecordedCommand.HDEL, key, 2 + due);
        if (isTree) {
            for (int i = 1; i <= due; i++) {
                tree.seekByTime(-i);
                command.argument(tree.fieldAddress(), tree.fieldLength());
            }
        } else {
            packed.nameDue(command);
        }
        command.end();
    }

    /**
     * Opens the command's key to search for the fields in the arguments from 2 on; replies the error if it has another
     * type.
     *
     * @param step the arguments from one field to the next
     */
    Found openForFields(boolean isWrite, int step) {
        Key at = context.keyAt(0);
        Found found = isWrite ? openForWriting(at) : open(at);
        if (isTree && context.server().config().touchAhead()) {
            context.prefetchMembers(tree, 2, step);
        }
        return found;
    }

    /** Reopens a key that is known to hold a hash. Does not count as an access. */
    public void openAgain(Key at) {
        boolean found = context.session().peek(at, item);
        assert found && item.type() == ItemType.HASH : found;
        opened(at, Found.PRESENT);
    }

    private Found opened(Key at, Found found) {
        key = at;
        removedHidden = false;
        present = found == Found.PRESENT;
        isTree = present && item.isTree();
        if (isTree) {
            context.session().open(at, item, tree);
            walked = UNKNOWN_POSITION;
            encoding = tree.flags();
        } else {
            packed.open(at, present);
            encoding = packed.encoding();
        }
        return found;
    }

    // --- size

    /** Number of fields. */
    @Override
    public long size() {
        return isTree ? tree.visible() : packed.size();
    }

    /** Whether OBJECT ENCODING reports a listpack. */
    public boolean isListpack() {
        return encoding == Encodings.HASH_LISTPACK;
    }

    /** Whether fields may have expiry times. */
    public boolean keepsTimes() {
        return isTree ? tree.keepsTimes() : packed.keepsTimes();
    }

    /** The earliest expiry time of the visible fields, or {@link Item#NEVER}. */
    public long earliestTime() {
        return isTree ? tree.earliest() : packed.earliest();
    }

    // --- cursor

    /** Moves the cursor to a field; false if it does not exist. */
    public boolean find(long address, int length) {
        walked = UNKNOWN_POSITION;
        return isTree ? tree.find(address, length) : packed.find(address, length);
    }

    /** Moves the cursor to the field in an argument. */
    boolean findArgument(int number) {
        return find(context.argumentAddress(number), context.argumentLength(number));
    }

    /** Moves the cursor to the first field; false if there is none. */
    public boolean first() {
        walked = 0;
        return isTree ? moveToUnexpired(tree.first()) : packed.first();
    }

    /** Moves the cursor to the next field; false if there is none. */
    @Override
    public boolean next() {
        walked++;
        return isTree ? moveToUnexpired(tree.next()) : packed.next();
    }

    private boolean moveToUnexpired(boolean there) {
        boolean more = there;
        while (more && tree.isDue()) {
            more = tree.next();
        }
        return more;
    }

    /** Moves the cursor to a field by its rank, counted without expired fields; false if there are too few fields. */
    @Override
    public boolean seek(long rank) {
        return isTree ? seekInTree(rank) : packed.seek(rank);
    }

    /**
     * Walks to the rank while fields have expired and others have no time, because expired fields are known by their
     * times, not by their ranks.
     */
    private boolean seekInTree(long rank) {
        if (!tree.hides()) {
            return tree.seek(rank);
        }
        if (tree.allHaveTimes() && rank < tree.visible()) {
            tree.seekByTime(rank);
            return true;
        }
        boolean there = tree.isAtElement() && walked <= rank || first();
        while (there && walked < rank) {
            there = next();
        }
        return there;
    }

    @Override
    public boolean isSequential() {
        return !isTree || tree.hides() && !tree.allHaveTimes();
    }

    @Override
    public long position() {
        return isTree ? tree.rank() : packed.position();
    }

    @Override
    public void moveToPosition(long place) {
        if (isTree) {
            tree.seek(place);
            walked = UNKNOWN_POSITION;
        } else {
            packed.moveToPosition((int) place);
        }
    }

    /** Expiry time of the cursor's field, or {@link Item#NEVER}. */
    public long time() {
        return isTree ? tree.time() : packed.time();
    }

    /** Address of the current field. */
    public long fieldAddress() {
        return isTree ? tree.fieldAddress() : packed.fieldAddress();
    }

    /** Length of the current field, bytes. */
    public int fieldLength() {
        return isTree ? tree.fieldLength() : packed.fieldLength();
    }

    /** Address of the current field's value. */
    public long valueAddress() {
        return isTree ? tree.valueAddress() : packed.valueAddress();
    }

    /** Length of the current field's value, bytes. */
    public int valueLength() {
        return isTree ? tree.valueLength() : packed.valueLength();
    }

    void replyField(ReplyWriter reply) {
        reply.bulk(fieldAddress(), fieldLength());
    }

    void replyValue(ReplyWriter reply) {
        reply.bulk(valueAddress(), valueLength());
    }

    void replyValueOrNil(ReplyWriter reply, boolean there) {
        if (there) {
            replyValue(reply);
        } else {
            reply.nil();
        }
    }

    /**
     * Visits the fields of one HSCAN call, with the cursor at each.
     *
     * @param count approximate number of fields
     * @return the next cursor, 0 at the end; a packed hash is visited completely, as Redis does with a listpack
     */
    long scan(long cursor, int count, Runnable visit) {
        if (isTree) {
            return tree.scan(cursor, count, tree.hides() ? () -> visitLasting(visit) : visit);
        }
        for (boolean more = first(); more; more = next()) {
            visit.run();
        }
        return 0;
    }

    private void visitLasting(Runnable visit) {
        if (!tree.isDue()) {
            visit.run();
        }
    }

    // --- add and change fields

    /**
     * Sets a field to a value, without an expiry time; returns whether the field is new. Neither may be stored in this
     * hash.
     */
    boolean put(long newField, int fieldLength, long newValue, int valueLength) {
        return put(newField, fieldLength, newValue, valueLength, Item.NEVER);
    }

    /**
     * Sets the cursor's field, or a new one, to a value, with an expiry time or {@link Item#NEVER}. Returns whether the
     * field is new.
     */
    boolean put(long newField, int fieldLength, long newValue, int valueLength, long newTime) {
        time = newTime;
        field = newField;
        fieldBytes = fieldLength;
        value = newValue;
        valueBytes = valueLength;
        long before = size();
        if (isTree) {
            putOneIntoTree();
        } else {
            boolean there = packed.find(newField, fieldLength);
            long more = packed.moreBytes(fieldLength, valueLength, time);
            if (more <= 0 || staysPacked(there ? 0 : 1, more, isLong(fieldLength, valueLength))) {
                packed.reserve(Math.max(0, more));
                packed.write(newField, fieldLength, newValue, valueLength, time);
            } else {
                becomeTree(putOne);
            }
        }
        written(isLong(fieldLength, valueLength));
        return size() > before;
    }

    private void putOneIntoTree() {
        tree.put(field, fieldBytes, value, valueBytes, time);
    }

    /** Puts the fields and values in the arguments from {@code from} on; returns the number of new fields. */
    long putArguments(int from) {
        argument = from;
        boolean isLong = false;
        long longest = 0;
        for (int i = from; i < context.argumentCount(); i += 2) {
            isLong |= isLong(context.argumentLength(i), context.argumentLength(i + 1));
            longest = Math.max(longest, context.argumentLength(i) + (long) context.argumentLength(i + 1));
        }
        long before = size();
        if (isTree) {
            tree.atomically((context.argumentCount() - from) / 2, longest, putArguments);
        } else {
            putArgumentsIntoPacked(isLong);
        }
        written(isLong);
        return size() - before;
    }

    private void putArgumentsIntoTree() {
        for (int i = argument; i < context.argumentCount(); i += 2) {
            tree.put(context.argumentAddress(i), context.argumentLength(i), context.argumentAddress(i + 1),
                    context.argumentLength(i + 1));
        }
    }

    private void putArgumentsIntoPacked(boolean isLong) {
        long more = 0;
        int fresh = 0;
        for (int i = argument; i < context.argumentCount(); i += 2) {
            // A repeated field counts twice, so the sum is an upper bound for every intermediate state.
            fresh += findArgument(i) ? 0 : 1;
            more += Math.max(0, packed.moreBytes(context.argumentLength(i), context.argumentLength(i + 1), Item.NEVER));
            if (more > 0 && !staysPacked(fresh, more, isLong)) {
                becomeTree(putArguments);
                return;
            }
        }
        packed.reserve(more);
        for (int i = argument; i < context.argumentCount(); i += 2) {
            findArgument(i);
            packed.write(context.argumentAddress(i), context.argumentLength(i), context.argumentAddress(i + 1),
                    context.argumentLength(i + 1), Item.NEVER);
        }
    }

    /** @param isLong whether a field or value is too long for the listpack encoding of OBJECT ENCODING */
    boolean staysPacked(int moreFields, long moreBytes, boolean isLong) {
        ServerConfig config = context.server().config();
        long fields = (long) packed.size() + moreFields;
        long bytes = packed.bytes() + moreBytes;
        return config.staysPacked(fields, bytes) || !isLong && isListpack() && config.staysListpackHash(fields, bytes);
    }

    private void becomeTree(Runnable how) {
        becomeTree(how, packed.keepsTimes());
    }

    /** @param keepsTimes whether fields have expiry times or get them during the conversion */
    void becomeTree(Runnable how, boolean keepsTimes) {
        write = how;
        tree.keepTimes(keepsTimes);
        context.session().makeTree(key, item, tree, CacheSession.KEEP, fill);
        tree.asOf(context.expiryMillis());
        isTree = true;
    }

    private void fillTree() {
        packed.copyTo(tree);
        write.run();
    }

    /** Whether a field or value is too long for the listpack encoding of OBJECT ENCODING. */
    boolean isLong(int fieldLength, int valueLength) {
        return Math.max(fieldLength, valueLength) > context.server().config().hashMaxListpackValueBytes();
    }

    /** Completes a change. */
    void written(boolean isLong) {
        present = true;
        if (isLong || size() > context.server().config().hashMaxListpackEntries()) {
            encoding = Encodings.HASH_HASHTABLE;
        }
        if (!isTree) {
            packed.finish(encoding);
        } else if (tree.flags() != encoding) {
            tree.flags(encoding);
        }
        context.session().changed(key, Change.SET);
    }

    // --- remove fields

    /** Removes the fields in the arguments from {@code from} on; returns how many existed. */
    long removeArguments(int from) {
        return removeArguments(from, (number, there) -> there);
    }

    /** Decides which of the fields in the arguments are removed. */
    interface Departure {
        /**
         * Called for each field in order.
         *
         * @param there whether the field exists; the cursor is then at it
         * @return whether to remove it; must be false if it does not exist
         */
        boolean shouldRemove(int argument, boolean there);
    }

    /** Removes some of the fields in the arguments from {@code from} on; returns the number of removed fields. */
    long removeArguments(int from, Departure departure) {
        long before = size();
        for (int i = from; i < context.argumentCount(); i++) {
            if (departure.shouldRemove(i, findArgument(i))) {
                remove(size() == before);
            }
        }
        if (!present || size() == before) {
            return before - size();
        }
        if (!isTree) {
            packed.finish(encoding);
        }
        context.session().changed(key, Change.SET);
        return before - size();
    }

    /** Publishes the events of a removal and its consequences. */
    void emitRemoval() {
        context.events().emit(KeyEvent.HDEL, key);
        if (removedHidden) {
            context.events().emit(KeyEvent.HEXPIRED, key);
        }
        if (!present) {
            context.events().emit(KeyEvent.DEL, key);
        }
    }

    /** Removes the cursor's field. The last field is removed with its key, which needs no memory. */
    private void remove(boolean isFirstRemoved) {
        if (size() == 1) {
            clear();
        } else if (isTree) {
            tree.remove();
        } else {
            if (isFirstRemoved) {
                packed.reserve(0);
            }
            packed.remove();
        }
    }

    private void clear() {
        removedHidden = hides();
        boolean deleted = context.session().delete(key);
        assert deleted;
        present = false;
        isTree = false;
        packed.open(key, false);
    }
}
