package io.varve.memory.expiry;

import java.lang.foreign.Arena;

import io.varve.memory.offheap.LiveRanges;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the size and the fields of a chunk of expiry entries. */
class ChunkLayoutTest {
    @Test
    void headerAndSlotsFillTheChunkExactly() {
        assertEquals(256, ChunkLayout.BYTES);
        assertEquals(40, ChunkLayout.SLOTS);
        assertEquals(ChunkLayout.BYTES, ChunkLayout.HEADER_BYTES + ChunkLayout.SLOTS * ChunkLayout.SLOT_BYTES);
        assertEquals(0, EntryStore.SLAB_BYTES % ChunkLayout.BYTES);
    }

    @Test
    void anEntryIdIsNeverNegativeAndNamesChunkAndSlot() {
        for (int chunk : new int[] {0, 1, 12_345, ChunkLayout.MAX_CHUNKS - 1}) {
            for (int slot : new int[] {0, 1, ChunkLayout.SLOTS - 1}) {
                int entry = ChunkLayout.entry(chunk, slot);
                assertTrue(entry >= 0);
                assertEquals(chunk, ChunkLayout.chunkOf(entry));
                assertEquals(slot, ChunkLayout.slotOf(entry));
            }
        }
        assertTrue(ChunkLayout.entry(ChunkLayout.MAX_CHUNKS, 0) < 0, "one chunk more would not fit");
    }

    /** Each field is written after all the others hold the opposite extreme, so an overlap shows. */
    @Test
    void fieldsKeepTheirExtremesAndDoNotOverlap() {
        try (Arena arena = Arena.ofConfined()) {
            long chunk = arena.allocate(ChunkLayout.BYTES, 8).address();
            LiveRanges.add(chunk, ChunkLayout.BYTES);
            for (boolean high : new boolean[] {true, false, true}) {
                writeAll(chunk, high);
                checkAll(chunk, high);
                ChunkLayout.cell(chunk, intExtreme(!high));
                assertEquals(intExtreme(!high), ChunkLayout.cell(chunk));
                ChunkLayout.cell(chunk, intExtreme(high));
                ChunkLayout.count(chunk, high ? 0 : ChunkLayout.SLOTS);
                ChunkLayout.count(chunk, high ? ChunkLayout.SLOTS : 0);
                ChunkLayout.location(chunk, 0, locationExtreme(!high));
                ChunkLayout.location(chunk, 0, locationExtreme(high));
                checkAll(chunk, high);
            }
            for (int slot = 0; slot < ChunkLayout.SLOTS; slot++) {
                ChunkLayout.location(chunk, slot, 0xABCD_0000_0000L + slot);
            }
            for (int slot = 0; slot < ChunkLayout.SLOTS; slot++) {
                assertEquals(0xABCD_0000_0000L + slot, ChunkLayout.location(chunk, slot));
            }
            assertEquals(ChunkLayout.SLOTS, ChunkLayout.count(chunk));
            LiveRanges.remove(chunk);
        }
    }

    private static void writeAll(long chunk, boolean high) {
        ChunkLayout.cell(chunk, intExtreme(high));
        ChunkLayout.previous(chunk, intExtreme(high));
        ChunkLayout.next(chunk, intExtreme(high));
        ChunkLayout.count(chunk, high ? ChunkLayout.SLOTS : 0);
        ChunkLayout.location(chunk, 0, locationExtreme(high));
        ChunkLayout.location(chunk, 1, locationExtreme(!high));
        ChunkLayout.location(chunk, ChunkLayout.SLOTS - 1, locationExtreme(high));
    }

    private static void checkAll(long chunk, boolean high) {
        assertEquals(intExtreme(high), ChunkLayout.cell(chunk));
        assertEquals(intExtreme(high), ChunkLayout.previous(chunk));
        assertEquals(intExtreme(high), ChunkLayout.next(chunk));
        assertEquals(high ? ChunkLayout.SLOTS : 0, ChunkLayout.count(chunk));
        assertEquals(locationExtreme(high), ChunkLayout.location(chunk, 0));
        assertEquals(locationExtreme(!high), ChunkLayout.location(chunk, 1));
        assertEquals(locationExtreme(high), ChunkLayout.location(chunk, ChunkLayout.SLOTS - 1));
    }

    private static int intExtreme(boolean high) {
        return high ? Integer.MAX_VALUE : -1;
    }

    private static long locationExtreme(boolean high) {
        return high ? (1L << 48) - 1 : 0;
    }
}
