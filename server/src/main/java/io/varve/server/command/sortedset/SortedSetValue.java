package io.varve.server.command.sortedset;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedSortedSet;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A sorted set as commands see it, packed or a tree: its members in their order, a cursor over them, and what changes
 * them. Confined to its event loop; reused from command to command, and valid while the shard of its key is locked.
 *
 * <p>The order is that of {@link PackedSortedSet}; a rank is how many members stand in front. A set that is missing has no
 * members. What is new is told by {@link #plan}, and {@link #change} has it written, all or nothing. Removals begin with {@link #prepare}
 * and end with {@link #finish}. What writes or removes leaves the cursor nowhere, and so does asking for a rank by score or member.
 *
 * <p>A packed set that is to grow beyond {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree, for good.
 */
public final class SortedSetValue {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    private static final int NOWHERE = 0;

    private final Item item = new Item();
    private final SortedSetTree tree = new SortedSetTree();
    private final TreeFiller fill = this::fillTree;
    private @Nullable Invocation call;
    private @Nullable Key key;
    private boolean present;
    private boolean isTree;
    /** Whether the tree was asked for a member and has not been changed since: that is the one that is added or changed. */
    private boolean isSought;
    /** Whether all members are to go: the key goes with them. */
    private boolean emptied;
    /** Bytes of the packed set, while it is changed less than its item has. */
    private int length;
    private int encoding;
    /** Where the cursor's entry begins in the value. */
    private int here;
    /** What {@link #plan} was told of. */
    private long plannedBytes;
    private int plannedMembers;
    /** What is written to a tree that is being made. */
    private @Nullable Runnable writer;

    // --- open

    /** Looks the key up for reading; the error for a wrong type is replied. */
    public Found open(Invocation command, Key at) {
        return opened(command, at, KeyLookup.find(command, at, item, ItemType.SORTED_SET));
    }

    /** Looks the key up for a change; the error for a wrong type is replied. */
    Found openForWriting(Invocation command, Key at) {
        return opened(command, at, KeyLookup.findForWriting(command, at, item, ItemType.SORTED_SET));
    }

    /** Looks the key up for a change, without a reply. */
    Found look(Invocation command, Key at) {
        boolean there = command.session().findForWriting(at, item);
        boolean sortedSet = there && item.type() == ItemType.SORTED_SET;
        return opened(command, at, sortedSet ? Found.PRESENT : there ? Found.WRONG_TYPE : Found.MISSING);
    }

    /** Looks at a key once more, of which it is known that it holds no other type; leaves no trace. */
    public void openAgain(Invocation command, Key at) {
        boolean found = command.session().peek(at, item);
        assert !found || item.type() == ItemType.SORTED_SET : item.type();
        opened(command, at, found ? Found.PRESENT : Found.MISSING);
    }

    private Found opened(Invocation command, Key at, Found found) {
        call = command;
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

    // --- look

    private long set() {
        return item.valueAddress();
    }

    private long entry() {
        assert here != NOWHERE;
        return set() + here;
    }

    private boolean goTo(long entry) {
        here = entry == PackedSortedSet.NONE ? NOWHERE : (int) (entry - set());
        return here != NOWHERE;
    }

    /** How many members it has. */
    public long size() {
        return !present ? 0 : isTree ? tree.size() : PackedSortedSet.count(set());
    }

    /** Whether it tells of a listpack, in which the zeros have no sign. */
    public boolean isListpack() {
        return encoding == Encodings.SORTED_SET_LISTPACK;
    }

    /** How many members have a lower score, or the same if {@code orEqual}. */
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

    /** How many members are lower, or the same if {@code orEqual}, where all scores are equal. */
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

    /** Goes to a member; false if it is not there. */
    public boolean find(long address, int memberLength) {
        if (isTree) {
            isSought = true;
            return tree.find(address, memberLength);
        }
        return goTo(present ? PackedSortedSet.find(set(), length, address, memberLength) : PackedSortedSet.NONE);
    }

    /** Goes to the member with so many in front of it; false if there are not as many. */
    public boolean seek(long rank) {
        if (isTree) {
            return tree.seek(rank);
        }
        return goTo(rank < size() ? PackedSortedSet.at(set(), length, (int) rank) : PackedSortedSet.NONE);
    }

    /** Goes to the next member; false if there is none. */
    public boolean next() {
        return isTree ? tree.next() : goTo(PackedSortedSet.next(set(), length, entry()));
    }

    /** Goes to the member in front; false if there is none. */
    public boolean previous() {
        return isTree ? tree.previous() : goTo(PackedSortedSet.previous(set(), entry()));
    }

    /** How many stand in front of the cursor's member. */
    long rank() {
        return isTree ? tree.rank() : PackedSortedSet.rank(set(), entry());
    }

    /** The score of the current member. */
    public double score() {
        return isTree ? tree.score() : PackedSortedSet.score(entry());
    }

    /** Where the bytes of the current member are. */
    public long memberAddress() {
        return isTree ? tree.address() : PackedSortedSet.memberAddress(entry());
    }

    /** Bytes of the current member. */
    public int memberLength() {
        return isTree ? tree.length() : PackedSortedSet.memberLength(entry());
    }

    void replyMember(ReplyWriter reply) {
        reply.bulk(memberAddress(), memberLength());
    }

    /**
     * A call of ZSCAN: visits members, with the cursor at each.
     *
     * @param count about how many
     * @return the next cursor, 0 at the end; a packed set is visited whole, as a listpack of Redis is
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

    /** Tells of a member that is to be added, before {@link #change}. */
    void plan(int memberLength) {
        plannedMembers++;
        plannedBytes += PackedSortedSet.entryBytes(memberLength);
    }

    /**
     * Has members written that were planned, and scores changed; the set is made if it is missing. A packed set's cursor stays until
     * the writer moves it.
     *
     * @param how     adds and changes
     * @param writes  how many members, at the most
     * @param longest bytes of the longest of them
     * @throws CacheFullException if there is no room; the key is then as it was
     */
    void change(Runnable how, int writes, int longest) {
        if (!isTree && plannedMembers > 0
                && !call().server().config().staysPacked(size() + plannedMembers, length + plannedBytes)) {
            becomeTree(how);
        } else if (!isTree) {
            makeRoom();
            how.run();
        } else if (writes > 1) {
            tree.together(writes, longest, how);
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
        for (boolean more = seek(0); more; more = goTo(PackedSortedSet.next(set(), length, entry()))) {
            tree.put(memberAddress(), memberLength(), score());
        }
        tree.flags(encoding);
        isSought = false;
        isTree = true;
        present = true;
        java.util.Objects.requireNonNull(writer).run();
    }

    /** Makes the set, which is there, fit for removals. The cursor stays. */
    void prepare() {
        if (!isTree) {
            makeRoom();
        }
    }

    private void makeRoom() {
        long needed = length + plannedBytes;
        if (needed > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        CacheSession session = call().session();
        if (present) {
            // Even where no room is needed: a set that is shared with a reply in flight moves away from it. One that
            // grows and has to move gets a quarter more, so that a row of new members moves it rarely.
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

    /** Adds a member that was planned and is not there. */
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

    /** Gives the cursor's member another score. The member's bytes are given because those in the set move. */
    void score(double score, long address, int memberLength) {
        if (isTree) {
            putIntoTree(score, address, memberLength);
            return;
        }
        PackedSortedSet.score(set(), length, entry(), stored(score), address, memberLength);
        here = NOWHERE;
    }

    /** Into the tree in which the member was looked for last, or which has just been made. */
    private void putIntoTree(double score, long address, int memberLength) {
        if (isSought) {
            isSought = false;
            tree.putSought(stored(score));
        } else {
            tree.put(address, memberLength, stored(score));
        }
    }

    /** A listpack of Redis keeps whole numbers as integers. */
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

    /** Removes the members from one rank up to another, which stays. */
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

    /** Ends a change, and tells of it. A set without members is deleted. */
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

    private Invocation call() {
        return java.util.Objects.requireNonNull(call);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
