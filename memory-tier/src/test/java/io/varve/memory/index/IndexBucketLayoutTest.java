package io.varve.memory.index;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests size, field boundaries and round trips of the index bucket and of the overflow's structures. Confined to the
 * test's thread.
 */
class IndexBucketLayoutTest {
    private final Regions regions = new Regions();
    private final long bucket = regions.allocate(Regions.MIN_BYTES) + IndexBucketLayout.BUCKET_BYTES;

    @Test
    void aBucketIsOneCacheLineAndItsTagsOneVector() {
        assertThat(IndexBucketLayout.BUCKET_BYTES).isEqualTo(64);
        assertThat(1 << IndexBucketLayout.BUCKET_SHIFT).isEqualTo(IndexBucketLayout.BUCKET_BYTES);
        assertThat(IndexBucketLayout.NUM_OFFSET).isZero();
        assertThat(IndexBucketLayout.FLAG_OFFSET).isEqualTo(1);
        assertThat(IndexBucketLayout.TAGS_OFFSET).isEqualTo(2);
        assertThat(IndexBucketLayout.NEXT_OFFSET).isEqualTo(16);
        assertThat(IndexBucketLayout.LOCATIONS_OFFSET).isEqualTo(22);
        assertThat(OverflowNodeLayout.NODE_BYTES).isEqualTo(32);
        assertThat(OverflowNodeLayout.LINK_BYTES).isEqualTo(4);
    }

    @Test
    void zeroedMemoryIsAnEmptyBucket() {
        assertThat(IndexBucketLayout.valid(bucket)).isZero();
        assertThat(IndexBucketLayout.natives(bucket)).isZero();
        assertThat(IndexBucketLayout.next(bucket)).isEqualTo(IndexBucketLayout.NO_BUCKET);
        assertThat(IndexBucketLayout.overflowed(bucket)).isFalse();
        assertThat(IndexBucketLayout.isAlone(bucket)).isTrue();
        assertThat(IndexBucketLayout.freeSlot(bucket)).isZero();
    }

    @Test
    void eachField_roundTripsItsExtremesWithoutChangingOthers() {
        long[] locations = {0, IndexBucketLayout.MAX_LOCATION};
        short[] tags = {0, -1, Short.MIN_VALUE, Short.MAX_VALUE};
        for (int slot = 0; slot < IndexBucketLayout.SLOTS; slot++) {
            for (long location : locations) {
                for (short tag : tags) {
                    fill((byte) 0);
                    IndexBucketLayout.put(bucket, slot, tag, location, true);
                    assertOnly(slot, tag, location, (byte) 0);
                    IndexBucketLayout.clear(bucket, slot);
                    assertThat(IndexBucketLayout.valid(bucket) | IndexBucketLayout.natives(bucket)).isZero();
                }
            }
        }
        long[] buckets = {0, IndexBucketLayout.MAX_LOCATION - 1, IndexBucketLayout.NO_BUCKET};
        for (long next : buckets) {
            fill((byte) 0x55);
            IndexBucketLayout.next(bucket, next);
            assertThat(IndexBucketLayout.next(bucket)).isEqualTo(next);
            assertThat(Memory.getByte(bucket + 15)).isEqualTo((byte) 0x55);
            assertThat(Memory.getByte(bucket + 22)).isEqualTo((byte) 0x55);
        }
    }

    @Test
    void theOverflowMarkIsNotASlot() {
        for (int slot = 0; slot < IndexBucketLayout.SLOTS; slot++) {
            IndexBucketLayout.put(bucket, slot, (short) slot, slot, slot % 2 == 0);
        }
        IndexBucketLayout.overflowed(bucket, true);
        assertThat(IndexBucketLayout.overflowed(bucket)).isTrue();
        assertThat(IndexBucketLayout.isAlone(bucket)).isFalse();
        assertThat(IndexBucketLayout.usedSlots(bucket)).isEqualTo(7);
        assertThat(IndexBucketLayout.freeSlot(bucket)).isEqualTo(IndexBucketLayout.SLOTS);
        assertThat(IndexBucketLayout.natives(bucket)).isEqualTo(0b1010101);
        assertThat(IndexBucketLayout.foreigners(bucket)).isEqualTo(0b0101010);
        IndexBucketLayout.clear(bucket, 3);
        assertThat(IndexBucketLayout.overflowed(bucket)).isTrue();
        assertThat(IndexBucketLayout.freeSlot(bucket)).isEqualTo(3);
        IndexBucketLayout.overflowed(bucket, false);
        assertThat(IndexBucketLayout.usedSlots(bucket)).isEqualTo(6);
    }

    @Test
    void lowBitsAreTheTagAndHighBitsTheHomeBucket() {
        long hash = 0xFEDC_BA98_7654_3210L;
        assertThat(IndexBucketLayout.tag(hash)).isEqualTo((short) 0x3210);
        assertThat(IndexBucketLayout.home(hash, 0x3F)).isEqualTo(0x14);
        assertThat(IndexBucketLayout.home(hash, -1)).isEqualTo(0xFEDC_BA98_7654L);
    }

    @Test
    void peekReadsTheSameAsALockedRead() {
        long last = bucket - IndexBucketLayout.BUCKET_BYTES + Regions.MIN_BYTES - IndexBucketLayout.BUCKET_BYTES;
        for (int slot = 0; slot < IndexBucketLayout.SLOTS; slot++) {
            long location = IndexBucketLayout.MAX_LOCATION - slot;
            IndexBucketLayout.put(last, slot, (short) (100 + slot), location, true);
            assertThat(IndexBucketLayout.peekLocation(last, (short) (100 + slot))).isEqualTo(location);
        }
        IndexBucketLayout.next(last, 12_345);
        assertThat(IndexBucketLayout.peekNext(last)).isEqualTo(12_345);
        assertThat(IndexBucketLayout.peekLocation(last, (short) 99)).isEqualTo(Index.NONE);
    }

    @Test
    void nodeFields_roundTrip() {
        long node = bucket;
        fill((byte) -1);
        OverflowNodeLayout.hash(node, Long.MIN_VALUE);
        OverflowNodeLayout.location(node, IndexBucketLayout.MAX_LOCATION);
        OverflowNodeLayout.second(node, -7);
        OverflowNodeLayout.hashNext(node, Integer.MAX_VALUE);
        OverflowNodeLayout.homeNext(node, 0);
        OverflowNodeLayout.homePrevious(node, 7);
        assertThat(OverflowNodeLayout.hash(node)).isEqualTo(Long.MIN_VALUE);
        assertThat(OverflowNodeLayout.location(node)).isEqualTo(IndexBucketLayout.MAX_LOCATION);
        assertThat(OverflowNodeLayout.second(node)).isEqualTo(-7);
        assertThat(OverflowNodeLayout.hashNext(node)).isEqualTo(Integer.MAX_VALUE);
        assertThat(OverflowNodeLayout.homeNext(node)).isZero();
        assertThat(OverflowNodeLayout.homePrevious(node)).isEqualTo(7);
        OverflowNodeLayout.link(node, 8);
        assertThat(OverflowNodeLayout.link(node)).isEqualTo(8);
    }

    private void fill(byte value) {
        Memory.fill(bucket, IndexBucketLayout.BUCKET_BYTES, value);
    }

    private void assertOnly(int slot, short tag, long location, byte rest) {
        for (int other = 0; other < IndexBucketLayout.SLOTS; other++) {
            assertThat(IndexBucketLayout.tag(bucket, other)).isEqualTo(other == slot ? tag : rest);
            assertThat(IndexBucketLayout.location(bucket, other)).isEqualTo(other == slot ? location : rest);
        }
        assertThat(IndexBucketLayout.next(bucket)).isEqualTo(IndexBucketLayout.NO_BUCKET);
        assertThat(IndexBucketLayout.valid(bucket)).isEqualTo(1 << slot);
        assertThat(IndexBucketLayout.natives(bucket)).isEqualTo(1 << slot);
    }
}
