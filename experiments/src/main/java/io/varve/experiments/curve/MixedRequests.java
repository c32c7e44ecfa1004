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
 * A request stream in the style of YCSB's core workload, with keys from YCSB's own generators. Immutable.
 *
 * <p>It mixes reads, updates, read-modify-writes, inserts, deletes and scans (as reads of consecutive
 * keys). Items have different sizes and may expire. The generators use the thread's random source and cannot be seeded.
 *
 * @param name for the report
 * @param numbers creates the generator of key numbers from the counter of inserted keys; the stream redraws numbers
 *     that are negative or above the last key
 * @param keys number of keys before any insert
 * @param requests number of requests, without the removals of expired items
 */
record MixedRequests(String name, Function<CounterGenerator, NumberGenerator> numbers, Shares shares, ItemSizes sizes,
        int keys, long requests) implements KeySource {
    private static final int SCAN_LENGTH = 100;
    /** The lifetimes of expiring items are the number of requests divided by each of these. */
    private static final int[] LIFETIME_DIVISORS = {100, 20, 4};

    /**
     * The shares of the request types; the remaining requests are reads. Immutable.
     *
     * @param scans share of the requests that begin a scan; each key of a scan is a request of its own
     * @param expires whether items expire; each write draws a new lifetime
     */
    record Shares(double updates, double readModifyWrites, double inserts, double deletes, double scans,
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
        private final NumberGenerator keyNumbers = numbers.apply(inserted);
        private final NumberGenerator itemBytes = sizes.open();
        /** The size of each key's item, 0 if the key has none. */
        private long[] itemSizes = new long[keys];
        /** The expiry time of each key's item, 0 if the key has none. */
        private long[] deadlines = new long[keys];
        private final Lifetimes lifetimes = new Lifetimes();
        private long requestCount;
        private int key;
        private Operation operation = Operation.READ;
        private boolean updateFollows;
        private int scanLeft;

        @Override
        public boolean next() {
            int expired = lifetimes.pollExpired();
            if (expired >= 0) {
                request(Operation.REMOVE, expired);
                return true;
            }
            if (requestCount == requests) {
                return false;
            }
            requestCount++;
            if (updateFollows) {
                updateFollows = false;
                request(Operation.WRITE, key);
            } else if (scanLeft > 0 && key < inserted.lastValue()) {
                scanLeft--;
                request(Operation.READ, key + 1);
            } else {
                beginOperation(ThreadLocalRandom.current().nextDouble());
            }
            return true;
        }

        private void beginOperation(double chance) {
            scanLeft = 0;
            double remaining = chance - shares.inserts();
            if (remaining < 0) {
                request(Operation.WRITE, inserted.nextValue().intValue());
                return;
            }
            int drawn = draw();
            remaining -= shares.updates();
            if (remaining < 0) {
                request(Operation.WRITE, drawn);
                return;
            }
            remaining -= shares.deletes();
            if (remaining < 0) {
                request(Operation.REMOVE, drawn);
                return;
            }
            remaining -= shares.scans();
            if (remaining < 0) {
                scanLeft = ThreadLocalRandom.current().nextInt(SCAN_LENGTH);
            } else {
                updateFollows = remaining < shares.readModifyWrites();
            }
            request(Operation.READ, drawn);
        }

        private int draw() {
            while (true) {
                long number = keyNumbers.nextValue().longValue();
                if (number >= 0 && number <= inserted.lastValue()) {
                    return (int) number;
                }
            }
        }

        /**
         * Makes this the current request. A read of an absent item creates it, because a cache-aside client writes a
         * missed key.
         */
        private void request(Operation requested, int number) {
            operation = requested;
            key = number;
            if (number >= itemSizes.length) {
                itemSizes = Arrays.copyOf(itemSizes, 2 * number);
                deadlines = Arrays.copyOf(deadlines, 2 * number);
            }
            if (requested == Operation.REMOVE) {
                itemSizes[number] = 0;
                deadlines[number] = 0;
            } else if (requested == Operation.WRITE || itemSizes[number] == 0) {
                itemSizes[number] = itemBytes.nextValue().longValue();
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
            return itemSizes[key];
        }

        /** The next items to expire; the clock is the number of requests. */
        private final class Lifetimes {
            /** One queue for each lifetime, with pairs of expiry time and key in the order of time. */
            private final List<ArrayDeque<long[]>> queues = Arrays.stream(LIFETIME_DIVISORS)
                    .mapToObj(_ -> new ArrayDeque<long[]>()).toList();

            void begin(int number) {
                int lifetime = ThreadLocalRandom.current().nextInt(LIFETIME_DIVISORS.length);
                long deadline = requestCount + Math.max(1, requests / LIFETIME_DIVISORS[lifetime]);
                deadlines[number] = deadline;
                queues.get(lifetime).add(new long[] {deadline, number});
            }

            /** Removes the next key whose item has expired from its queue, and returns it; -1 if there is none. */
            int pollExpired() {
                for (ArrayDeque<long[]> queue : queues) {
                    for (long[] first = queue.peek(); first != null && first[0] <= requestCount; first = queue.peek()) {
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
