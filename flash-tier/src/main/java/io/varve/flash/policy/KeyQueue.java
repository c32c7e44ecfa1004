package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A doubly linked queue of a {@link KeyTable}'s entries: new ones at the head, old ones at the tail. Guarded by its
 * policy. Several queues of one table share its links, as long as an entry is in one of them at a time.
 */
final class KeyQueue {
    /** The links towards the head and towards the tail; 8 bytes an entry. */
    record Links(MemorySegment newer, MemorySegment older) {
        static Links of(KeyTable table, Arena arena) {
            return new Links(table.column(arena), table.column(arena));
        }

        long ramBytes() {
            return newer.byteSize() + older.byteSize();
        }
    }

    private final Links links;
    private int head = KeyTable.NONE;
    private int tail = KeyTable.NONE;
    private int size;

    KeyQueue(Links links) {
        this.links = links;
    }

    int size() {
        return size;
    }

    /** The oldest entry, or {@link KeyTable#NONE}. */
    int tail() {
        return tail;
    }

    /** The next entry towards the head, or {@link KeyTable#NONE}. */
    int newer(int entry) {
        return KeyTable.get(links.newer, entry);
    }

    void addHead(int entry) {
        KeyTable.put(links.newer, entry, KeyTable.NONE);
        KeyTable.put(links.older, entry, head);
        if (head == KeyTable.NONE) {
            tail = entry;
        } else {
            KeyTable.put(links.newer, head, entry);
        }
        head = entry;
        size++;
    }

    void remove(int entry) {
        int newer = KeyTable.get(links.newer, entry);
        int older = KeyTable.get(links.older, entry);
        if (newer == KeyTable.NONE) {
            head = older;
        } else {
            KeyTable.put(links.older, newer, older);
        }
        if (older == KeyTable.NONE) {
            tail = newer;
        } else {
            KeyTable.put(links.newer, older, newer);
        }
        size--;
    }
}
