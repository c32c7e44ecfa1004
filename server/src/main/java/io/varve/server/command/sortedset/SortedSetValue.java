package io.varve.server.command.sortedset;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.collection.packed.PackedSortedSet;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A sorted set value, packed or a tree: its members in order, a cursor over them, and changes. Confined to its event
 * loop; reused from command to command, and valid while the shard of its key is locked.
 *
 * <p>The order is that of {@link PackedSortedSet}; a rank is the number of members in front. A missing set has no
 * members. {@link #plan} declares new members, and {@link #change} writes them, all or none. Removals begin with
 * {@link #prepare} and end with {@link #finish}. A write or removal invalidates the cursor, and so does a rank query by
 * score or member.
 *
 * <p>A packed set that would exceed {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree for good.
 */
public final class SortedSetValue {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    private static final int NOWHERE = 0;

    private final Item item = new Item();
    private final SortedSetTree tree = new SortedSetTree();
    private final TreeFiller fill = this::fillTree;
    private @Nullable CommandContext context;
    private @Nullable Key key;
    private boolean present;
    private boolean isTree;
    /** Whether the tree has not changed since its last member lookup: a write then uses that position. */
    private boolean isSought;
    /** Whether all members are to be removed, and the key with them. */
    private boolean emptied;
    /** Length of the packed set, bytes; during a change it may be less than the item holds. */
    private int length;
    private int encoding;
    /** Offset of the cursor's entry in the value. */
    private int here;
    /** Totals of the {@link #plan} calls. */
    private long plannedBytes;
    private int plannedMembers;
    /** The write to a tree under construction. */
    private @Nullable Runnable writer;

    // --- open

    /** Opens a key for reading; replies the error if it has another type. */
    public Found open(CommandContext command, Key at) {
        return opened(command, at, KeyLookup.find(command, at, item, ItemType.SORTED_SET));
    }

    /** Opens a key for writing; replies the error if it has another type. */
    Found openForWriting(CommandContext command, Key at) {
        return opened(command, at, KeyLookup.findForWriting(command, at, item, ItemType.SORTED_SET));
    }

    /** Opens a key for writing without a reply. */
    Found lookUp(CommandContext command, Key at) {
        boolean there = command.session().findForWriting(at, item);
        boolean sortedSet = there && item.type() == ItemType.SORTED_SET;
        return opened(command, at, sortedSet ? Found.PRESENT : there ? Found.WRONG_TYPE : Found.MISSING);
    }

    /** Reopens a key that is known to hold no other type. Does not count as an access. */
    public void openAgain(CommandContext command, Key at) {
        boolean found = command.session().peek(at, item);
        assert !found || item.type() == ItemType.SORTED_SET : item.type();
        opened(command, at, found ? Found.PRESENT : Found.MISSING);
    }

    private Found opened(CommandContext command, Key at, Found found) {
        context = command;
        key = at;
        present = found == Found.PRESENT;
        isTree = present && item.isTree();
        isSought = false;
        if (isTree) {
            command.session().open(at, item, tree);
            encoding = tree.flags();
        } else {
            length = present ? item.valueLength() : PackedSortedSet.EMPTY_BYTES;
            encoding = present ? item.encoding() : Encodings.SORTED_SET_LISTPACK;
        }
        here = NOWHERE;
        emptied = false;
        plannedBytes = 0;
        plannedMembers = 0;
        return found;
    }

    // --- size and ranks

    private long set() {
        return item.valueAddress();
    }

    private long entry() {
        assert here != NOWHERE;
        return set() + here;
    }

    private boolean moveTo(long entry) {
        here = entry == PackedSortedSet.NONE ? NOWHERE : (int) (entry - set());
        return here != NOWHERE;
    }

    /** Number of members. */
    public long size() {
        return !present ? 0 : isTree ? tree.size() : PackedSortedSet.count(set());
    }

    /** Whether OBJECT ENCODING reports a listpack, in which zero has no sign. */
    public boolean isListpack() {
        return encoding == Encodings.SORTED_SET_LISTPACK;
    }

    /** Number of members with a lower score, or an equal one if {@code orEqual}. */
    public long rankOfScore(double score, boolean orEqual) {
        if (!isTree) {
            return present ? PackedSortedSet.rankOfScore(set(), length, score, orEqual) : 0;
        }
        if (orEqual) {
            tree.seekAboveScore(score);
        } else {
            tree.seekScore(score);
        }
        return tree.rank();
    }

    /** Number of lower members, including an equal one if {@code orEqual}; all scores must be equal. */
    long rankOfMember(long address, int memberLength, boolean orEqual) {
        if (!isTree) {
            return present ? PackedSortedSet.rankOfMember(set(), length, address, memberLength, orEqual) : 0;
        }
        tree.first();
        double score = tree.score();
        if (orEqual) {
            tree.seekAboveMember(score, address, memberLength);
        } else {
            tree.seekMember(score, address, memberLength);
        }
        return tree.rank();
    }

    // --- cursor

    /** Moves the cursor to a member; false if it does not exist. */
    public boolean find(long address, int memberLength) {
        if (isTree) {
            isSought = true;
            return tree.find(address, memberLength);
        }
        return moveTo(present ? PackedSortedSet.find(set(), length, address, memberLength) : PackedSortedSet.NONE);
    }

    /** Moves the cursor to the member of this rank; false if there are too few. */
    public boolean seek(long rank) {
        if (isTree) {
            return tree.seek(rank);
        }
        return moveTo(rank < size() ? PackedSortedSet.at(set(), length, (int) rank) : PackedSortedSet.NONE);
    }

    /** Moves the cursor to the next member; false if there is none. */
    public boolean next() {
        return isTree ? tree.next() : moveTo(PackedSortedSet.next(set(), length, entry()));
    }

    /** Moves the cursor to the previous member; false if there is none. */
    public boolean previous() {
        return isTree ? tree.previous() : moveTo(PackedSortedSet.previous(set(), entry()));
    }

    /** The rank of the cursor's member. */
    long rank() {
        return isTree ? tree.rank() : PackedSortedSet.rank(set(), entry());
    }

    public double score() {
        return isTree ? tree.score() : PackedSortedSet.score(entry());
    }

    /** Address of the current member's bytes. */
    public long memberAddress() {
        return isTree ? tree.address() : PackedSortedSet.memberAddress(entry());
    }

    /** Length of the current member, bytes. */
    public int memberLength() {
        return isTree ? tree.length() : PackedSortedSet.memberLength(entry());
    }

    void replyMember(ReplyWriter reply) {
        reply.bulk(memberAddress(), memberLength());
    }

    /**
     * Visits the members of one ZSCAN call, with the cursor at each.
     *
     * @param count approximate number of members
     * @return the next cursor, 0 at the end; a packed set is visited completely, as Redis does with a listpack
     */
    long scan(long cursor, int count, Runnable visit) {
        if (isTree) {
            return tree.scan(cursor, count, visit);
        }
        for (boolean more = seek(0); more; more = next()) {
            visit.run();
        }
        return 0;
    }

    // --- change

    /** Declares a member to be added, before {@link #change}. */
    void plan(int memberLength) {
        plannedMembers++;
        plannedBytes += PackedSortedSet.entryBytes(memberLength);
    }

    /**
     * Writes planned members and changed scores; creates the set if needed. A packed set's cursor keeps its position
     * until the writer moves it.
     *
     * @param how adds and changes members
     * @param writes maximum number of written members
     * @param longest length of the longest of them, bytes
     * @throws CacheFullException if memory is full; the key is then unchanged
     */
    void change(Runnable how, int writes, int longest) {
        if (!isTree && plannedMembers > 0
                && !call().server().config().staysPacked(size() + plannedMembers, length + plannedBytes)) {
            becomeTree(how);
        } else if (!isTree) {
            reserve();
            how.run();
        } else if (writes > 1) {
            tree.atomically(writes, longest, how);
        } else {
            how.run();
        }
        finish();
    }

    private void becomeTree(Runnable how) {
        boolean wasPresent = present;
        boolean made = false;
        writer = how;
        try {
            call().session().makeTree(key(), item, tree, CacheSession.KEEP, fill);
            made = true;
        } finally {
            isTree = made;
            present = made || wasPresent;
        }
    }

    private void fillTree() {
        for (boolean more = seek(0); more; more = moveTo(PackedSortedSet.next(set(), length, entry()))) {
            tree.put(memberAddress(), memberLength(), score());
        }
        tree.flags(encoding);
        isSought = false;
        isTree = true;
        present = true;
        java.util.Objects.requireNonNull(writer).run();
    }

    /** Makes an existing set writable for removals. The cursor keeps its position. */
    void prepare() {
        if (!isTree) {
            reserve();
        }
    }

    private void reserve() {
        long needed = length + plannedBytes;
        if (needed > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        CacheSession session = call().session();
        if (present) {
            // Even without growth, because a set that is shared with a reply in flight moves away from it. A growing
            // set that has to move gets a quarter more, so that a series of new members rarely moves it.
            long capacity = plannedBytes == 0 ? needed : Math.min(MAX_BYTES, needed + (needed >>> 2));
            session.resize(key(), item, encoding, (int) needed, (int) capacity);
        } else {
            session.put(key(), item, ItemType.SORTED_SET, encoding, (int) needed, (int) needed, Item.NEVER);
            PackedSortedSet.clear(set());
            present = true;
        }
        plannedBytes = 0;
        plannedMembers = 0;
    }

    /** Adds a planned member that does not exist yet. */
    void add(double score, long address, int memberLength) {
        if (size() >= call().server().config().zsetMaxListpackEntries()
                || memberLength > call().server().config().zsetMaxListpackValueBytes()) {
            encoding = Encodings.SORTED_SET_SKIPLIST;
        }
        if (isTree) {
            putIntoTree(score, address, memberLength);
            tree.flags(encoding);
            return;
        }
        length = PackedSortedSet.insert(set(), length, stored(score), address, memberLength);
        here = NOWHERE;
    }

    /**
     * Changes the score of the cursor's member. The caller passes the member's bytes, because those in the set move.
     */
    void score(double score, long address, int memberLength) {
        if (isTree) {
            putIntoTree(score, address, memberLength);
            return;
        }
        PackedSortedSet.score(set(), length, entry(), stored(score), address, memberLength);
        here = NOWHERE;
    }

    /** Writes at the position of the last lookup if the tree has not changed since, else searches for the member. */
    private void putIntoTree(double score, long address, int memberLength) {
        if (isSought) {
            isSought = false;
            tree.putLastSearched(stored(score));
        } else {
            tree.put(address, memberLength, stored(score));
        }
    }

    /** A Redis listpack stores whole numbers as integers. */
    private double stored(double score) {
        return isListpack() ? score + 0.0 : score;
    }

    /** Removes the cursor's member. */
    void remove() {
        if (isTree) {
            tree.remove();
            return;
        }
        length = PackedSortedSet.remove(set(), length, entry());
        here = NOWHERE;
    }

    /** Removes the members from one rank to another, exclusive. */
    void removeRange(long from, long to) {
        if (isTree) {
            emptied = from == 0 && to == tree.size();
            if (!emptied) {
                tree.removeRange(from, to);
            }
            return;
        }
        length = PackedSortedSet.removeRange(set(), length, (int) from, (int) to);
        here = NOWHERE;
    }

    /** Completes a change and reports it. Deletes a set without members. */
    void finish() {
        CacheSession session = call().session();
        if (isTree ? emptied || tree.size() == 0 : length == PackedSortedSet.EMPTY_BYTES) {
            present = false;
            isTree = false;
            session.delete(key());
            return;
        }
        if (isTree) {
            session.changed(key(), Change.SET);
            return;
        }
        if (length != item.valueLength()) {
            session.resize(key(), item, encoding, length, length);
        } else if (encoding != item.encoding()) {
            session.encoding(key(), item, encoding);
        }
        session.changed(key(), Change.SET);
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
