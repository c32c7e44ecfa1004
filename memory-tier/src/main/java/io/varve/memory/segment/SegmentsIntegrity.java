package io.varve.memory.segment;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

import io.varve.memory.item.Item;

/** Compares a shard's accounts with the contents of its segments. Confined to its caller, under the shard's lock. */
final class SegmentsIntegrity {
    private SegmentsIntegrity() {}

    static void check(Segments segments, SegmentPool pool, Consumer<String> report) {
        Set<Integer> seen = new HashSet<>();
        long used = 0;
        long live = 0;
        long items = 0;
        int open = 0;
        for (int place = 0; place < segments.segmentCount(); place++) {
            Segment segment = segments.owned().at(place);
            String name = "segment " + segment.id() + " (" + segment.state() + "): ";
            expect(report, seen.add(segment.id()), name + "is owned twice");
            expect(report, segment.owner() == segments, name + "is also owned by another shard");
            expect(report, segment.slot() == place, name + "records place " + segment.slot() + ", but is at " + place);
            expect(report, pool.segment(segment.id()) == segment, name + "is unknown to the pool");
            checkState(segments, segment, name, report);
            expect(report, segment.usedBytes() <= segment.extentBytes() && segment.extentBytes() <= pool.segmentBytes(),
                    name + segment.usedBytes() + " bytes used, the extent has " + segment.extentBytes());
            walk(pool, segment, name, report);
            used += segment.usedBytes();
            live += segment.liveBytes();
            items += segment.liveItems();
            open += segment.state() == SegmentState.OPEN ? 1 : 0;
        }
        equal(report, "open segments", open, segments.openSegments().count());
        expect(report, open <= segments.openSegments().max(), "too many open segments: " + open);
        equal(report, "used bytes", used, segments.usedBytes() - segments.largeBytes());
        equal(report, "live bytes", live, segments.segmentLiveBytes());
        equal(report, "live items", items, segments.segmentLiveItems());
        expect(report, segments.largeBytes() >= 0 && segments.largeItems() >= 0, "negative number of large items");
    }

    private static void checkState(Segments segments, Segment segment, String name, Consumer<String> report) {
        switch (segment.state()) {
            case FREE -> report.accept(name + "is free and owned");
            case OPEN -> expect(report, segments.openSegments().get(segment.lifetimeClass()) == segment,
                    name + "is not registered as open");
            case SEALED -> expect(report, segment.liveItems() > 0, name + "is sealed without live items");
            case CLEANING -> {
                // It may be empty shortly before its cleaning ends.
            }
        }
    }

    private static void walk(SegmentPool pool, Segment segment, String name, Consumer<String> report) {
        long start = pool.segmentAddress(segment.id());
        long offset = 0;
        int live = 0;
        int items = 0;
        int expiring = 0;
        long expireAtSum = 0;
        long[] classBytes = new long[ItemLayout.MAX_PENALTY_CLASS + 1];
        while (offset < segment.usedBytes()) {
            int size = ItemLayout.size(start + offset);
            if (size <= 0 || offset + size > segment.usedBytes()) {
                report.accept(name + "the item at " + offset + " has " + size + " bytes, but used are "
                        + segment.usedBytes());
                return;
            }
            if (!ItemLayout.isDead(start + offset)) {
                live += size;
                items++;
                classBytes[ItemLayout.penaltyClass(start + offset)] += size;
                long expireAt = ItemLayout.expireAtMillis(start + offset);
                if (expireAt != Item.NEVER) {
                    expiring++;
                    expireAtSum += Math.min(expireAt, Segment.MAX_SUMMED_MILLIS);
                }
            }
            offset += size;
        }
        equal(report, name + "live bytes", live, segment.liveBytes());
        equal(report, name + "live items", items, segment.liveItems());
        equal(report, name + "expiring items", expiring, segment.expiringItems());
        equal(report, name + "sum of expiry times", expireAtSum, segment.expireAtSum());
        for (int i = 0; i < classBytes.length; i++) {
            boolean[] one = new boolean[classBytes.length];
            one[i] = true;
            equal(report, name + "bytes of penalty class " + i, classBytes[i], segment.classBytes(one));
        }
        equal(report, name + "items without expiry", (long) items - expiring, segment.lastingItems());
    }

    private static void equal(Consumer<String> report, String what, long walked, long accounted) {
        expect(report, walked == accounted, what + ": " + walked + " counted, but " + accounted + " recorded");
    }

    private static void expect(Consumer<String> report, boolean condition, String failure) {
        if (!condition) {
            report.accept(failure);
        }
    }
}
