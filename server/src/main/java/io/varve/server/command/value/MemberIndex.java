package io.varve.server.command.value;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;

/**
 * A hash index over a {@link MemberList}, off the heap. Confined to its event loop; reused from command to command.
 *
 * <p>It uses the cache's seeded hash, so chosen members do not collide. It is an open-addressed table with linear
 * probing, at most half full; a slot holds the number of an entry plus one, or 0.
 */
public final class MemberIndex {
    /** The result of {@link #find} if there is none. */
    public static final int NONE = -1;
    private static final int MIN_SLOTS = 64;

    private final MemberList list;
    private final WorkMemory memory = new WorkMemory();
    private final Key hashed = new Key();
    private int slots;

    public MemberIndex(MemberList list) {
        this.list = list;
    }

    /** Reserves memory for this many members in one step, so that a shortage shows before any work. */
    public void expect(Cache cache, long members) {
        list.expect(cache, members);
        if (members > slots / 2) {
            grow(cache, Math.toIntExact(Math.max(MIN_SLOTS, Long.highestOneBit(members) * 4)));
        }
    }

    /** The entry number of a member, or {@link #NONE}. */
    public int find(CacheSession session, long address, int length) {
        return slots == 0 ? NONE : find(hash(session, address, length), address, length);
    }

    private int find(int hash, long address, int length) {
        for (int slot = hash & slots - 1;; slot = slot + 1 & slots - 1) {
            int number = slot(slot) - 1;
            if (number < 0) {
                return NONE;
            }
            if (list.hash(number) == hash && list.length(number) == length
                    && Memory.equal(list.address(number), address, length)) {
                return number;
            }
        }
    }

    /** Finds a member, or appends it to the list with a score of 0; in that case the list has grown. */
    public int findOrAdd(Cache cache, CacheSession session, long address, int length) {
        if (list.count() >= slots / 2) {
            grow(cache, Math.max(MIN_SLOTS, Math.multiplyExact(slots, 2)));
        }
        int hash = hash(session, address, length);
        int found = find(hash, address, length);
        if (found != NONE) {
            return found;
        }
        int added = list.add(cache, address, length, hash, 0);
        put(hash, added);
        return added;
    }

    private static int mix(long hash) {
        return (int) (hash ^ hash >>> Integer.SIZE);
    }

    private int hash(CacheSession session, long address, int length) {
        session.bind(hashed, 0, address, length);
        return mix(hashed.hash());
    }

    private void grow(Cache cache, int larger) {
        memory.require(cache, (long) larger * Integer.BYTES);
        slots = larger;
        Memory.fill(memory.address(), (long) larger * Integer.BYTES, (byte) 0);
        for (int i = 0; i < list.count(); i++) {
            put(list.hash(i), i);
        }
    }

    private void put(int hash, int number) {
        int slot = hash & slots - 1;
        while (slot(slot) != 0) {
            slot = slot + 1 & slots - 1;
        }
        Memory.putInt(memory.address() + (long) slot * Integer.BYTES, number + 1);
    }

    private int slot(int slot) {
        return Memory.getInt(memory.address() + (long) slot * Integer.BYTES);
    }

    /** Bytes charged to maxmemory. */
    public long heldBytes() {
        return memory.heldBytes();
    }

    /** Removes all members and releases the memory. */
    public void release() {
        slots = 0;
        memory.release();
    }
}
