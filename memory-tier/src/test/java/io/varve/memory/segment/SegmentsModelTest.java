package io.varve.memory.segment;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes, deaths, growth and cleaning of two shards on a tiny pool, against a plain map. */
class SegmentsModelTest {
    /** So many that items are moved also where there is one segment: with 150, none were in 2 of 400 runs. */
    private static final int BATCHES = 450;
    private static final int OPERATIONS = 60;

    private static final class Expected {
        final long location;
        final Segments owner;
        final byte[] value;
        long expireAt;
        int size;

        Expected(long location, Segments owner, byte[] value, long expireAt, int size) {
            this.location = location;
            this.owner = owner;
            this.value = value;
            this.expireAt = expireAt;
            this.size = size;
        }
    }

    private int segmentBytes;
    private SplittableRandom random = new SplittableRandom(0);
    private MemoryBudget budget = new MemoryBudget(1);
    private @Nullable SegmentPool opened;
    private final List<Segments> shards = new ArrayList<>();
    private final Map<Long, Expected> model = new HashMap<>();
    private final List<Long> locations = new ArrayList<>();
    private long now = 1_700_000_000_000L;
    /** Times of growth, in which little dies, alternate with times of decline. */
    private boolean growing;
    private long refusals;
    private long cleaned;
    private long moved;

    @ParameterizedTest
    @CsvSource({"12, 1, 300, 4096", "12, 4, 300, 4096", "40, 3, 900, 4096", "8, 8, 200, 4096", "6, 2, 2000, 4096",
            "64, 2, 4000, 4096", "3, 2, 60000, 262144", "1, 4, 3000, 131072"})
    void agreesWithTheModel(int segmentCount, int maxOpenSegments, int maxValueBytes, int sizeOfSegments) {
        segmentBytes = sizeOfSegments;
        long seed = TestBudget.seed("varve.test.seed");
        System.out.println("SegmentsModelTest seed " + seed + " segments " + segmentCount + " open " + maxOpenSegments);
        random = new SplittableRandom(seed);
        budget = new MemoryBudget((long) segmentCount * segmentBytes);
        try (SegmentPool pool = new SegmentPool(new Regions(), budget, 2L * segmentCount * segmentBytes,
                segmentBytes)) {
            opened = pool;
            shards.add(new Segments(pool, maxOpenSegments, 1));
            shards.add(new Segments(pool, maxOpenSegments, 1));
            for (int batch = 0; batch < BATCHES; batch++) {
                growing = batch / 30 % 2 == 0;
                for (int i = 0; i < OPERATIONS; i++) {
                    operate(maxValueBytes);
                }
                check(seed);
            }
            assertThat(refusals).as("the pool was full at times").isPositive();
            assertThat(cleaned).as("segments were cleaned").isPositive();
            assertThat(moved).as("items were moved").isPositive();
            endAll(seed);
        }
        assertThat(budget.chargedBytes()).isZero();
    }

    private SegmentPool pool() {
        if (opened == null) {
            throw new IllegalStateException();
        }
        return opened;
    }

    private void operate(int maxValueBytes) {
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4, 5, 6, 7 -> write(maxValueBytes);
            case 8, 9, 10, 11 -> {
                if (!growing || random.nextInt(4) == 0) {
                    kill();
                }
            }
            case 12, 13 -> extend();
            case 14 -> changeExpiry();
            case 15, 16 -> clean();
            case 17 -> now += random.nextInt(20_000);
            case 18 -> maintain();
            default -> createAndRemove();
        }
    }

    private void write(int maxValueBytes) {
        Segments shard = anyShard();
        byte[] value = new byte[random.nextInt(Math.min(maxValueBytes, segmentBytes - 40))];
        random.nextBytes(value);
        boolean fields = random.nextBoolean();
        long expireAt = fields && random.nextInt(4) > 0 ? now + ttl() : Item.NEVER;
        int size = ItemLayout.size(2, value.length, fields);
        long before = shard.usedBytes() + shard.liveBytes() + shard.segmentCount() + shard.bytesWritten();
        long location;
        try {
            location = shard.append(size, lifetimeClass(expireAt), now);
        } catch (CacheFullException full) {
            assertThat(shard.usedBytes() + shard.liveBytes() + shard.segmentCount() + shard.bytesWritten())
                    .as("nothing changed").isEqualTo(before);
            assertThat(budget.availableBytes()).as("refused only when full").isLessThan(segmentBytes);
            assertThat(pool().segmentsFree()).as("refused only when full").isZero();
            refusals++;
            relieve(shard);
            return;
        }
        if (random.nextInt(growing ? 16 : 4) == 0) {
            // As an overwrite does: the old item dies between append and born.
            kill();
        }
        writeItem(location, value, fields, expireAt);
        shard.itemWritten(location, size, expireAt, now);
        remember(new Expected(location, shard, value, expireAt, size));
    }

    private long ttl() {
        return 1L + random.nextInt(random.nextBoolean() ? 10_000 : 100_000);
    }

    private int lifetimeClass(long expireAt) {
        return Segments.lifetimeClass(expireAt == Item.NEVER ? Item.NEVER : expireAt - now);
    }

    private void writeItem(long location, byte[] value, boolean fields, long expireAt) {
        long address = pool().address(location);
        ItemLayout.write(address, ItemType.STRING, 0, 0, 2, value.length, value.length, fields, 0);
        Memory.putShort(ItemLayout.keyAddress(address), (short) value.length);
        Memory.copy(value, 0, ItemLayout.valueAddress(address), value.length);
        if (fields) {
            ItemLayout.expireAtMillis(address, expireAt);
        }
    }

    private void remember(Expected expected) {
        assertThat(model.put(expected.location, expected)).as("two items at one location").isNull();
        locations.add(expected.location);
    }

    private void forget(int place) {
        model.remove(locations.get(place));
        locations.set(place, locations.getLast());
        locations.removeLast();
    }

    private void kill() {
        if (locations.isEmpty()) {
            return;
        }
        int place = random.nextInt(locations.size());
        Expected expected = expected(locations.get(place));
        expected.owner.itemRemoved(expected.location);
        forget(place);
    }

    private Expected expected(long location) {
        Expected expected = model.get(location);
        assertThat(expected).as("item at %x", location).isNotNull();
        if (expected == null) {
            throw new IllegalStateException();
        }
        return expected;
    }

    private void extend() {
        if (locations.isEmpty()) {
            return;
        }
        Expected expected = expected(
                random.nextBoolean() ? locations.getLast() : locations.get(random.nextInt(locations.size())));
        long address = pool().address(expected.location);
        if (ItemLayout.hasExpiryFields(address)) {
            return;
        }
        int newSize = expected.size + ItemLayout.EXPIRY_BYTES;
        if (expected.owner.extendTail(expected.location, newSize)) {
            ItemLayout.insertExpiryFields(address);
            expected.expireAt = now + ttl();
            ItemLayout.expireAtMillis(address, expected.expireAt);
            expected.owner.expiryChanged(expected.location, Item.NEVER, expected.expireAt, now);
            expected.size = newSize;
        }
    }

    private void changeExpiry() {
        if (locations.isEmpty()) {
            return;
        }
        Expected expected = expected(locations.get(random.nextInt(locations.size())));
        long address = pool().address(expected.location);
        if (ItemLayout.hasExpiryFields(address)) {
            long newExpireAt = random.nextInt(3) == 0 ? Item.NEVER : now + ttl();
            ItemLayout.expireAtMillis(address, newExpireAt);
            expected.owner.expiryChanged(expected.location, expected.expireAt, newExpireAt, now);
            expected.expireAt = newExpireAt;
        }
        if (expected.expireAt == Item.NEVER) {
            expected.owner.overwritten(expected.location, now, 1);
        }
    }

    private void clean() {
        Segments shard = anyShard();
        CleanerPolicy policy = random.nextBoolean() ? CleanerPolicy.MODIFIED : CleanerPolicy.ORIGINAL;
        int id = switch (random.nextInt(4)) {
            case 0 -> shard.cleaning().leastUtilized();
            case 1 -> shard.cleaning().oldestSealed();
            case 2 -> shard.cleaning().randomSealed(random);
            default -> shard.cleaning().mostProfitable(policy, now, random.nextDouble() / 2, random.nextBoolean());
        };
        if (id != SegmentPool.NONE) {
            clean(shard, id, random.nextInt(3) == 0);
        }
    }

    /** Moves live items out of a segment, evicts them if there is no memory, or aborts half-way. */
    private void clean(Segments shard, int id, boolean mayAbort) {
        assertThat(shard.state(id)).isEqualTo(SegmentState.SEALED);
        shard.cleaning().begin(id);
        cleaned++;
        long next = SegmentCleaning.firstOf(id);
        for (long at = shard.cleaning().nextLive(id, next); at != Location.NONE; at = shard.cleaning().nextLive(id,
                next)) {
            next = shard.cleaning().after(at);
            if (mayAbort && random.nextInt(10) == 0) {
                shard.cleaning().abort(id);
                return;
            }
            move(shard, id, at);
            if (random.nextInt(20) == 0) {
                kill();
            }
        }
        assertThat(shard.liveItems(id)).isZero();
        shard.cleaning().end(id);
    }

    private void move(Segments shard, int id, long from) {
        Expected expected = expected(from);
        locations.remove(from);
        model.remove(from);
        int size = ItemLayout.size(pool().address(from));
        if (growing || random.nextInt(5) != 0) {
            try {
                long to = shard.appendMoved(size, lifetimeClass(expected.expireAt), now);
                assertThat(Location.segment(to)).as("the segment under cleaning gets nothing").isNotEqualTo(id);
                Memory.copy(pool().address(from), pool().address(to), size);
                shard.itemWritten(to, size, expected.expireAt, shard.meanWrittenAtMillis(id));
                remember(new Expected(to, shard, expected.value, expected.expireAt, size));
                moved++;
            } catch (CacheFullException full) {
                refusals++;
            }
        }
        shard.itemRemoved(from);
    }

    private void relieve(Segments shard) {
        int id = shard.cleaning().leastUtilized();
        if (id == SegmentPool.NONE) {
            shard.closeOpenSegments();
            id = shard.cleaning().oldestSealed();
        }
        if (id != SegmentPool.NONE) {
            clean(shard, id, false);
        } else {
            kill();
        }
    }

    private void maintain() {
        anyShard().closeIdleSegments(now);
        pool().trim();
        if (random.nextInt(10) == 0) {
            now += Segments.IDLE_MILLIS;
            anyShard().closeIdleSegments(now);
        }
        if (random.nextInt(20) == 0) {
            anyShard().closeOpenSegments();
        }
    }

    private void createAndRemove() {
        Segments shard = anyShard();
        byte[] value = new byte[random.nextInt(200)];
        int size = ItemLayout.size(2, value.length, false);
        try {
            long location = shard.append(size, Segments.DEFAULT_CLASS, now);
            if (random.nextBoolean()) {
                kill();
            }
            writeItem(location, value, false, Item.NEVER);
            shard.itemWritten(location, size, Item.NEVER, now);
            shard.itemRemoved(location);
        } catch (CacheFullException full) {
            refusals++;
        }
    }

    private Segments anyShard() {
        return shards.get(random.nextInt(shards.size()));
    }

    private void check(long seed) {
        List<String> failures = new ArrayList<>();
        for (Segments shard : shards) {
            shard.checkIntegrity(failures::add);
        }
        assertThat(failures).as("seed %d", seed).isEmpty();
        long liveBytes = 0;
        for (Expected expected : model.values()) {
            long address = pool().address(expected.location);
            assertThat(ItemLayout.isDead(address)).isFalse();
            assertThat(ItemLayout.size(address)).isEqualTo(expected.size);
            assertThat(ItemLayout.expireAtMillis(address)).isEqualTo(expected.expireAt);
            assertThat(Memory.toArray(ItemLayout.valueAddress(address), ItemLayout.valueLength(address)))
                    .as("seed %d", seed).isEqualTo(expected.value);
            liveBytes += expected.size;
        }
        assertThat(shards.get(0).liveBytes() + shards.get(1).liveBytes()).isEqualTo(liveBytes);
        assertThat(shards.get(0).liveItems() + shards.get(1).liveItems()).isEqualTo(model.size());
        assertThat(shards.get(0).segmentCount() + shards.get(1).segmentCount()).isEqualTo(pool().segmentsInUse());
        assertThat(pool().bytes()).isEqualTo(budget.chargedBytes());
        for (Segments shard : shards) {
            assertThat(shard.deadBytes()).isNotNegative();
            assertThat(shard.usedBytes()).isLessThanOrEqualTo((long) shard.segmentCount() * segmentBytes);
        }
        assertThat(walked()).as("seed %d", seed).isEqualTo(model.keySet());
    }

    private Set<Long> walked() {
        Set<Long> walked = new HashSet<>();
        for (Segments shard : shards) {
            for (int place = 0; place < shard.segmentCount(); place++) {
                int id = shard.segmentId(place);
                long next = SegmentCleaning.firstOf(id);
                for (long at = shard.cleaning().nextLive(id, next); at != Location.NONE; at = shard.cleaning()
                        .nextLive(id, next)) {
                    walked.add(at);
                    next = shard.cleaning().after(at);
                }
            }
        }
        return walked;
    }

    private void endAll(long seed) {
        while (!locations.isEmpty()) {
            kill();
        }
        for (Segments shard : shards) {
            shard.closeOpenSegments();
        }
        check(seed);
        assertThat(pool().segmentsInUse()).isZero();
    }
}
