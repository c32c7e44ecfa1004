package io.varve.memory.index;

import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;

import io.varve.memory.index.vector.TagScanners;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the vector and the scalar scanner against a plain loop over the slots. Confined to the test's thread. */
class TagScannerDifferentialTest {
    private static final short[] EDGES = {0, 1, -1, 0x7FFF, Short.MIN_VALUE, 0x0100, 0x00FF};

    private final Regions regions = new Regions();
    private final long bucket = regions.allocate(Regions.MIN_BYTES);
    private final TagScanner scalar = new ScalarTagScanner();
    private final TagScanner best = TagScanners.best();

    @Test
    void theVectorScannerIsUsedIfItsModuleIsPresent() {
        boolean there = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
        assertThat(best.getClass().getSimpleName()).isEqualTo(there ? "VectorTagScanner" : "ScalarTagScanner");
    }

    @Test
    void eachSubsetOfMatchingSlotsIsFoundUnderEachSubsetOfValidSlots() {
        for (short tag : EDGES) {
            for (int equal = 0; equal < 128; equal++) {
                for (int slot = 0; slot < IndexBucketLayout.SLOTS; slot++) {
                    tag(slot, (equal & 1 << slot) != 0 ? tag : (short) (tag + 1 + slot));
                }
                for (int num = 0; num < 256; num++) {
                    Memory.putByte(bucket, (byte) num);
                    Memory.putByte(bucket + 1, (byte) (num * 31));
                    compare(tag);
                }
            }
        }
    }

    @Test
    void randomBuckets() {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("TagScannerDifferentialTest seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 100_000; i++) {
            Memory.putLong(bucket, random.nextLong());
            Memory.putLong(bucket + 8, random.nextLong());
            int slot = random.nextInt(IndexBucketLayout.SLOTS);
            if (random.nextBoolean()) {
                tag(slot, EDGES[random.nextInt(EDGES.length)]);
            }
            compare(IndexBucketLayout.tag(bucket, slot));
            compare((short) random.nextInt());
            compare(EDGES[random.nextInt(EDGES.length)]);
            compare(Memory.getShort(bucket));
        }
    }

    private void compare(short tag) {
        int expected = 0;
        for (int slot = 0; slot < IndexBucketLayout.SLOTS; slot++) {
            if ((IndexBucketLayout.valid(bucket) & 1 << slot) != 0 && IndexBucketLayout.tag(bucket, slot) == tag) {
                expected |= 1 << slot;
            }
        }
        int byScalar = scalar.matches(bucket, tag);
        int byBest = best.matches(bucket, tag);
        if (byScalar != expected || byBest != expected) {
            throw new AssertionError("tag " + tag + " in " + Long.toHexString(Memory.getLong(bucket)) + " "
                    + Long.toHexString(Memory.getLong(bucket + 8)) + ": expected " + expected + ", scalar " + byScalar
                    + ", best " + byBest);
        }
    }

    private void tag(int slot, short tag) {
        Memory.putShort(bucket + IndexBucketLayout.TAGS_OFFSET + (long) slot * IndexBucketLayout.TAG_BYTES, tag);
    }
}
