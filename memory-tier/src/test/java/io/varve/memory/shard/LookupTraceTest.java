package io.varve.memory.shard;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.InMemoryCache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static io.varve.memory.testing.CacheFixture.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests that a trace has the memory that a read touches. Confined to the test's thread. */
class LookupTraceTest {
    /** Enough that some keys are outside their home buckets, and that the tables are moved meanwhile. */
    private static final int KEYS = 5_000;
    private static final int LINE_BYTES = 64;

    private final InMemoryCache cache = InMemoryCache.open(CacheConfig.defaults(16 << 20).withShards(2),
            new Regions());
    private final CacheFixture fixture = new CacheFixture(cache);
    private final Arena arena = Arena.ofConfined();
    private final long name = arena.allocate(LINE_BYTES).address();

    LookupTraceTest() {
        LiveRanges.add(name, LINE_BYTES);
    }

    @AfterEach
    void close() {
        fixture.close();
        LiveRanges.remove(name);
        arena.close();
    }

    /** A range of memory that a read touched. */
    private record Range(long address, int bytes) {
        boolean holds(long from, int length) {
            return from >= address && from + length <= address + bytes;
        }
    }

    private static final class Trace implements LookupTrace.Visitor {
        final List<Range> buckets = new ArrayList<>();
        final List<Range> items = new ArrayList<>();
        int overflows;

        @Override
        public void bucket(long address, int bytes) {
            buckets.add(new Range(address, bytes));
        }

        @Override
        public void item(long address, int bytes) {
            items.add(new Range(address, bytes));
        }

        @Override
        public void overflow() {
            overflows++;
        }
    }

    private Trace trace(String text) {
        byte[] chars = bytes(text);
        Memory.copy(chars, 0, name, chars.length);
        Key key = new Key();
        fixture.session.bind(key, 0, name, chars.length);
        Trace trace = new Trace();
        cache.traceLookup(key, trace);
        return trace;
    }

    @Test
    void theLastItemIsTheOneThatAReadFinds() {
        assertThat(trace("absent").buckets).as("no index yet").isEmpty();
        int extensions = 0;
        for (int i = 0; i < KEYS; i++) {
            fixture.set(0, bytes("key " + i), bytes("value " + i), Item.NEVER);
        }
        for (int i = 0; i < KEYS; i++) {
            Trace trace = trace("key " + i);
            assertThat(trace.buckets).isNotEmpty()
                    .allMatch(each -> each.bytes() == LINE_BYTES && each.address() % LINE_BYTES == 0);
            extensions += trace.buckets.size() > 1 ? 1 : 0;
            if (trace.overflows == 0) {
                Range found = trace.items.getLast();
                fixture.withItem(0, bytes("key " + i), item -> assertThat(found.holds(item.valueAddress(),
                        item.valueLength())).isTrue());
            }
        }
        assertThat(extensions).as("some keys are in an extension").isBetween(1, KEYS / 2);
    }

    @Test
    void anAbsentKeyTouchesItsBucketsAndHardlyAnyItem() {
        for (int i = 0; i < KEYS; i++) {
            fixture.set(0, bytes("key " + i), bytes("value " + i), Item.NEVER);
        }
        int items = 0;
        for (int i = 0; i < KEYS; i++) {
            Trace trace = trace("absent " + i);
            assertThat(trace.buckets).isNotEmpty();
            items += trace.items.size();
        }
        assertThat(items).as("a tag of 16 bits rarely matches").isLessThan(KEYS / 100);
    }
}
