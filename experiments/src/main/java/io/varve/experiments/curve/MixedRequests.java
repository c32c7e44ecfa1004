package io.varve.experiments.curve;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.KeyStream;
import io.varve.experiments.simulate.YcsbKeys;
import site.ycsb.generator.CounterGenerator;
import site.ycsb.generator.NumberGenerator;

/**
 * Requests as YCSB's core workload mixes them, keys drawn by YCSB's own generators: reads, updates, reads that are followed by an update, inserts,
 * deletes, scans (as reads of the keys that follow one another), of items of different sizes, which may expire. They take their chance from the
 * thread and cannot be seeded. Immutable.
 *
 * @param name     for the report
 * @param numbers  draws keys' numbers, given the counter that numbers inserted keys; one that is negative or above the last key is drawn again
 * @param keys     there are before any is inserted
 * @param requests how many; what expires comes on top
 */
record MixedRequests(String name, Function<CounterGenerator, NumberGenerator> numbers, Shares shares, ItemSizes sizes,
        int keys, long requests) implements KeySource {
    private static final int SCAN_LENGTH = 100;
    /** Lifetimes of items that expire: the stream's length over these. */
    private static final int[] LIFETIMES = {100, 20, 4};

    /**
     * Of the requests, what they do; the others are reads. Immutable.
     *
     * @param scans   share of the requests that begin one; each key of a scan is a request of its own
     * @param expires whether items have lifetimes, new ones with each write
     */
    record Shares(double updates, double readsAndUpdates, double inserts, double deletes, double scans,
            boolean expires) {
        static final Shares READS = new Shares(0, 0, 0, 0, 0, false);

        static Shares updates(double share) {
            return new Shares(share, 0, 0, 0, 0, false);
        }
    }

    @Override
    public KeyStream open() {
        return new Requests();
    }

    @Override
    public long distinctKeys() {
        return keys + Math.round(requests * shares.inserts());
    }

    @Override
    public boolean hasSizes() {
        return sizes != ItemSizes.ALIKE;
    }

    @Override
    public String describe() {
        return name;
    }

    private final class Requests implements KeyStream {
        private final CounterGenerator inserted = new CounterGenerator(keys);
        private final NumberGenerator chosen = numbers.apply(inserted);
        private final NumberGenerator itemBytes = sizes.open();
        /** By key: what its item takes, 0 if it has none; and when it is to expire. */
        private long[] present = new long[keys];
        private long[] deadlines = new long[keys];
        private final Lifetimes lifetimes = new Lifetimes();
        private long made;
        private int key;
        private Operation operation = Operation.READ;
        private boolean updateFollows;
        private int scanLeft;

        @Override
        public boolean next() {
            int expired = lifetimes.expired();
            if (expired >= 0) {
                request(Operation.REMOVE, expired);
                return true;
            }
            if (made == requests) {
                return false;
            }
            made++;
            if (updateFollows) {
                updateFollows = false;
                request(Operation.WRITE, key);
            } else if (scanLeft > 0 && key < inserted.lastValue()) {
                scanLeft--;
                request(Operation.READ, key + 1);
            } else {
                begin(ThreadLocalRandom.current().nextDouble());
            }
            return true;
        }

        private void begin(double chance) {
            scanLeft = 0;
            double left = chance - shares.inserts();
            if (left < 0) {
                request(Operation.WRITE, inserted.nextValue().intValue());
                return;
            }
            int drawn = draw();
            left -= shares.updates();
            if (left < 0) {
                request(Operation.WRITE, drawn);
                return;
            }
            left -= shares.deletes();
            if (left < 0) {
                request(Operation.REMOVE, drawn);
                return;
            }
            left -= shares.scans();
            if (left < 0) {
                scanLeft = ThreadLocalRandom.current().nextInt(SCAN_LENGTH);
            } else {
                updateFollows = left < shares.readsAndUpdates();
            }
            request(Operation.READ, drawn);
        }

        private int draw() {
            while (true) {
                long number = chosen.nextValue().longValue();
                if (number >= 0 && number <= inserted.lastValue()) {
                    return (int) number;
                }
            }
        }

        /** A read of an item that is not there brings it in, as a write does. */
        private void request(Operation what, int number) {
            operation = what;
            key = number;
            if (number >= present.length) {
                present = Arrays.copyOf(present, 2 * number);
                deadlines = Arrays.copyOf(deadlines, 2 * number);
            }
            if (what == Operation.REMOVE) {
                present[number] = 0;
                deadlines[number] = 0;
            } else if (what == Operation.WRITE || present[number] == 0) {
                present[number] = itemBytes.nextValue().longValue();
                if (shares.expires()) {
                    lifetimes.begin(number);
                }
            }
        }

        @Override
        public long key() {
            return YcsbKeys.keyOf(key);
        }

        @Override
        public Operation operation() {
            return operation;
        }

        @Override
        public long bytes() {
            return present[key];
        }

        /** Which items are to expire next; the clock is the number of requests. */
        private final class Lifetimes {
            /** For each lifetime (time, key), in the order of time. */
            private final List<ArrayDeque<long[]>> queues = Arrays.stream(LIFETIMES)
                    .mapToObj(_ -> new ArrayDeque<long[]>()).toList();

            void begin(int number) {
                int lifetime = ThreadLocalRandom.current().nextInt(LIFETIMES.length);
                long deadline = made + Math.max(1, requests / LIFETIMES[lifetime]);
                deadlines[number] = deadline;
                queues.get(lifetime).add(new long[] {deadline, number});
            }

            /** A key whose item expires now, or -1. */
            int expired() {
                for (ArrayDeque<long[]> queue : queues) {
                    for (long[] first = queue.peek(); first != null && first[0] <= made; first = queue.peek()) {
                        queue.remove();
                        if (deadlines[(int) first[1]] == first[0]) {
                            return (int) first[1];
                        }
                    }
                }
                return -1;
            }
        }
    }
}
