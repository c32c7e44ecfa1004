package io.varve.server.command.hash;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Pickable;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.ReplyWriter;

/**
 * A hash as commands see it, packed or a tree: its fields with their values, a cursor over them, and what changes them. Confined to its
 * event loop; reused from command to command, so that it allocates nothing, and valid while the shard of its key is locked.
 *
 * <p>A hash that is missing has no fields. What puts fields into it makes the hash if need be, and is refused with a
 * {@link io.varve.memory.item.CacheFullException} before anything is changed. What writes or removes leaves the cursor nowhere. A
 * hash that loses its last field goes with its key.
 *
 * <p>Fields may have times ({@link HashTimes} changes them); those that are due are not there.
 *
 * <p>A packed hash that is to grow beyond {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree, for good. A tree is in the
 * order of a hash of the fields, a packed hash in that in which they came.
 */
public final class HashValue implements Pickable {
    private static final Workspace<HashValue> WORKSPACE = Workspace.madeBy(HashValue::new);
    /** Behind all others: who seeks begins anew. */
    private static final long ELSEWHERE = Long.MAX_VALUE / 2;

    private final Invocation call;
    private final Item item = new Item();
    private final PackedHashEdit packed;
    private final HashTree tree = new HashTree();
    private Key key = new Key();
    private boolean present;
    private boolean isTree;
    /** Whether fields that were due went with the last that was seen. */
    private boolean hiddenWent;
    /** How many fields are in front of the cursor that came to it by walking. */
    private long walked;
    /** What OBJECT ENCODING tells: a tree has it in its flags. */
    private int encoding;

    /** The writes to a tree; one that is being made gets what they put together with what was packed. */
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

    HashValue(Invocation call) {
        this.call = call;
        packed = new PackedHashEdit(call, item);
    }

    /** That of an invocation. */
    public static HashValue of(Invocation call) {
        return WORKSPACE.of(call);
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

    /** Has it look at the key once more, whose tree has got room for times. */
    void keepTimes(long earliestMillis) {
        if (isTree) {
            call.session().keepFieldTimes(key, item, earliestMillis);
            call.session().open(key, item, tree);
        } else {
            packed.keepTimes(earliestMillis);
        }
    }

    /** The undo of {@link #keepTimes} after a refusal: no field has got a time. */
    void forgetTimes() {
        if (call.session().peek(key, item)) {
            call.session().forgetFieldTimes(key, item);
        }
    }

    // --- open

    /** For a command that answers what is in it; replies the error if the key has another type. */
    public Found open(Key at) {
        return opened(at, KeyLookup.find(call, at, item, ItemType.HASH));
    }

    /** The same for a command that changes it. */
    Found openForWriting(Key at) {
        return opened(at, KeyLookup.findForWriting(call, at, item, ItemType.HASH));
    }

    /** Looks at a key once more, of which it is known that it holds a hash; leaves no trace. */
    public void openAgain(Key at) {
        boolean found = call.session().peek(at, item);
        assert found && item.type() == ItemType.HASH : found;
        opened(at, Found.PRESENT);
    }

    private Found opened(Key at, Found found) {
        key = at;
        hiddenWent = false;
        present = found == Found.PRESENT;
        isTree = present && item.isTree();
        if (isTree) {
            call.session().open(at, item, tree);
            walked = ELSEWHERE;
            encoding = tree.flags();
        } else {
            packed.open(at, present);
            encoding = packed.encoding();
        }
        return found;
    }

    // --- look

    /** How many fields it has. */
    @Override
    public long size() {
        return isTree ? tree.visible() : packed.size();
    }

    /** Whether it tells of a listpack. */
    public boolean isListpack() {
        return encoding == Encodings.HASH_LISTPACK;
    }

    /** Whether fields may have times. */
    public boolean keepsTimes() {
        return isTree ? tree.keepsTimes() : packed.keepsTimes();
    }

    /** When the first of the fields is due that are there, or {@link Item#NEVER}. */
    public long earliestTime() {
        return isTree ? tree.earliest() : packed.earliest();
    }

    // --- cursor

    /** Goes to a field; false if it is not there. */
    public boolean find(long address, int length) {
        walked = ELSEWHERE;
        return isTree ? tree.find(address, length) : packed.find(address, length);
    }

    /** Goes to the field that an argument names. */
    boolean findArgument(int number) {
        return find(call.argumentAddress(number), call.argumentLength(number));
    }

    /** Goes to the first field; false if there is none. */
    public boolean first() {
        walked = 0;
        return isTree ? goToLasting(tree.first()) : packed.first();
    }

    /** Goes to the next field; false if there is none. */
    @Override
    public boolean next() {
        walked++;
        return isTree ? goToLasting(tree.next()) : packed.next();
    }

    private boolean goToLasting(boolean there) {
        boolean more = there;
        while (more && tree.isDue()) {
            more = tree.next();
        }
        return more;
    }

    /** Goes to a field by its number, which is how many stand in front of it, or are due before it; false if there are not as many. */
    @Override
    public boolean seek(long rank) {
        return isTree ? seekInTree(rank) : packed.seek(rank);
    }

    /** While fields are due, and others have no time, it is walked to: those that are due are known by their times, not by their ranks. */
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
    public boolean isWalked() {
        return !isTree || tree.hides() && !tree.allHaveTimes();
    }

    @Override
    public long here() {
        return isTree ? tree.rank() : packed.here();
    }

    @Override
    public void show(long place) {
        if (isTree) {
            tree.seek(place);
            walked = ELSEWHERE;
        } else {
            packed.show((int) place);
        }
    }

    /** When the cursor's field is due, or {@link Item#NEVER}. */
    public long time() {
        return isTree ? tree.time() : packed.time();
    }

    /** Where the bytes of the current field are. */
    public long fieldAddress() {
        return isTree ? tree.fieldAddress() : packed.fieldAddress();
    }

    /** Bytes of the current field. */
    public int fieldLength() {
        return isTree ? tree.fieldLength() : packed.fieldLength();
    }

    /** Where the bytes of the current field's value are. */
    public long valueAddress() {
        return isTree ? tree.valueAddress() : packed.valueAddress();
    }

    /** Bytes of the current field's value. */
    public int valueLength() {
        return isTree ? tree.valueLength() : packed.valueLength();
    }

    void replyField(ReplyWriter reply) {
        reply.bulk(fieldAddress(), fieldLength());
    }

    void replyValue(ReplyWriter reply) {
        reply.bulk(valueAddress(), valueLength());
    }

    /**
     * A call of HSCAN: visits fields, with the cursor at each.
     *
     * @param count about how many
     * @return the next cursor, 0 at the end; a packed hash is visited whole, as a listpack of Redis is
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

    // --- fields come and change

    /** Gives a field a value, neither of which lies in this hash, and no time; whether the field is new. */
    boolean put(long newField, int fieldLength, long newValue, int valueLength) {
        return put(newField, fieldLength, newValue, valueLength, Item.NEVER);
    }

    /** The same for the cursor's field, which keeps its time, or for a new one. */
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
                packed.makeRoom(Math.max(0, more));
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

    /** Puts the arguments from a number on, fields and values in turn; how many fields are new. */
    long putArguments(int from) {
        argument = from;
        boolean isLong = false;
        long longest = 0;
        for (int i = from; i < call.argumentCount(); i += 2) {
            isLong |= isLong(call.argumentLength(i), call.argumentLength(i + 1));
            longest = Math.max(longest, call.argumentLength(i) + (long) call.argumentLength(i + 1));
        }
        long before = size();
        if (isTree) {
            tree.together((call.argumentCount() - from) / 2, longest, putArguments);
        } else {
            putArgumentsIntoPacked(isLong);
        }
        written(isLong);
        return size() - before;
    }

    private void putArgumentsIntoTree() {
        for (int i = argument; i < call.argumentCount(); i += 2) {
            tree.put(call.argumentAddress(i), call.argumentLength(i), call.argumentAddress(i + 1),
                    call.argumentLength(i + 1));
        }
    }

    private void putArgumentsIntoPacked(boolean isLong) {
        long more = 0;
        int fresh = 0;
        for (int i = argument; i < call.argumentCount(); i += 2) {
            // A field that is named twice is counted twice: the sum is what is needed at most on the way.
            fresh += findArgument(i) ? 0 : 1;
            more += Math.max(0, packed.moreBytes(call.argumentLength(i), call.argumentLength(i + 1), Item.NEVER));
            if (more > 0 && !staysPacked(fresh, more, isLong)) {
                becomeTree(putArguments);
                return;
            }
        }
        packed.makeRoom(more);
        for (int i = argument; i < call.argumentCount(); i += 2) {
            findArgument(i);
            packed.write(call.argumentAddress(i), call.argumentLength(i), call.argumentAddress(i + 1),
                    call.argumentLength(i + 1), Item.NEVER);
        }
    }

    /** @param isLong whether it gets a field or a value with which OBJECT ENCODING does not call it a listpack */
    boolean staysPacked(int moreFields, long moreBytes, boolean isLong) {
        ServerConfig config = call.server().config();
        long fields = (long) packed.size() + moreFields;
        long bytes = packed.bytes() + moreBytes;
        return config.staysPacked(fields, bytes) || !isLong && isListpack() && config.staysListpackHash(fields, bytes);
    }

    private void becomeTree(Runnable how) {
        becomeTree(how, packed.keepsTimes());
    }

    /** @param keepsTimes whether fields get times on the way, or have some */
    void becomeTree(Runnable how, boolean keepsTimes) {
        write = how;
        tree.keepTimes(keepsTimes);
        call.session().makeTree(key, item, tree, CacheSession.KEEP, fill);
        tree.asOf(call.now());
        isTree = true;
    }

    private void fillTree() {
        packed.copyTo(tree);
        write.run();
    }

    private boolean isLong(int fieldLength, int valueLength) {
        return Math.max(fieldLength, valueLength) > call.server().config().hashMaxListpackValueBytes();
    }

    /** A change is complete. */
    void written(boolean isLong) {
        present = true;
        if (isLong || size() > call.server().config().hashMaxListpackEntries()) {
            encoding = Encodings.HASH_HASHTABLE;
        }
        if (!isTree) {
            packed.finish(encoding);
        } else if (tree.flags() != encoding) {
            tree.flags(encoding);
        }
        call.session().changed(key, Change.SET);
    }

    // --- fields go

    /** Removes the fields that the arguments from a number on name; how many were there. */
    long removeArguments(int from) {
        return removeArguments(from, (number, there) -> there);
    }

    /** Which of the fields that arguments name go. */
    interface Departure {
        /**
         * Asked about each in turn.
         *
         * @param there whether the field is there; the cursor is at it then
         * @return whether it goes; only one that is there may
         */
        boolean goes(int argument, boolean there);
    }

    /** Removes some of the fields that the arguments from a number on name; how many went. */
    long removeArguments(int from, Departure departure) {
        long before = size();
        for (int i = from; i < call.argumentCount(); i++) {
            if (departure.goes(i, findArgument(i))) {
                remove(size() == before);
            }
        }
        if (!present || size() == before) {
            return before - size();
        }
        if (!isTree) {
            packed.finish(encoding);
        }
        call.session().changed(key, Change.SET);
        return before - size();
    }

    /** Tells that fields were removed, and what came of it. */
    void tellRemoval() {
        call.events().tell(KeyEvent.HDEL, key);
        if (hiddenWent) {
            call.events().tell(KeyEvent.HEXPIRED, key);
        }
        if (!present) {
            call.events().tell(KeyEvent.DEL, key);
        }
    }

    /** Removes the cursor's field: the last one with its key, for which no room is needed. */
    private void remove(boolean isFirstToGo) {
        if (size() == 1) {
            clear();
        } else if (isTree) {
            tree.remove();
        } else {
            if (isFirstToGo) {
                packed.makeRoom(0);
            }
            packed.remove();
        }
    }

    private void clear() {
        hiddenWent = isTree ? tree.hides() : packed.hides();
        boolean deleted = call.session().delete(key);
        assert deleted;
        present = false;
        isTree = false;
        packed.open(key, false);
    }
}
