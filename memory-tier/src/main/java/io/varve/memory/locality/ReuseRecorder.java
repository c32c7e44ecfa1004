package io.varve.memory.locality;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Learns from a stream of accesses, at the cost of a small part of them, how soon items are accessed again. Confined to one thread, or
 * guarded by its owner's lock; its memory is fixed, but for the histograms that each class gets with its first draw, and that grow with the longest reuse time. Recording allocates nothing else.
 *
 * <p><b>What is sampled.</b> Accesses are drawn at a fixed rate, whatever their keys (as AET's authors do [1]), and the key of a drawn access is
 * followed until it is accessed again or goes. Sampling keys by their hash (SHARDS [2], the set sampling of pRedis [3]) sees all
 * accesses to one key in a hundred: where a few keys take most of the accesses, everything depends on whether these few are among them. Here a
 * key has as many samples as it has accesses to a hundred, give or take what chance allows, so that a hot key is just a key of which
 * there are many samples. Both take the same memory: the keys that wait for their next access are a hundredth of all at any time.
 *
 * <p><b>What an access costs</b> that is not drawn and whose key is not followed, ninety-seven in a hundred or more: a number counted up and
 * compared, and a look at eight bytes of a table of 128 KB.
 *
 * <p><b>Time</b> is counted in accesses. An item that expires goes by wall-clock time; nobody tells the recorder of it if the item had been
 * evicted before, so the time at which it was to expire is kept with the sample: an access after that is no reuse, however much
 * memory there is.
 *
 * <p>[1] Hu and others: Kinetic Modeling of Data Eviction in Cache (ATC 2016). [2] Waldspurger and others: Efficient MRC Construction
 * with SHARDS (FAST 2015). [3] Pan and others: Penalty and Locality Aware Memory Allocation in Redis (SoCC 2019), section 2.2.
 */
public final class ReuseRecorder {
    /** The expiry time of what does not expire. */
    public static final long NEVER = Long.MAX_VALUE;

    private static final int MOST_CLASSES = Byte.MAX_VALUE + 1;
    /** Slots that are looked at for each key that is added while there are too many. */
    private static final int SLICE = 32;
    /** Of classes of which nothing was drawn; nobody writes to it. */
    private static final ReuseHistograms NOTHING = new ReuseHistograms(0);

    private final Sampling sampling;
    private final DrawRate rate;
    private final Draws draws;
    private final FollowedKeys followed;
    /** Of a class when something of it is drawn for the first time: a server that is told of three classes of sixteen has no memory for the others. */
    private final @Nullable ReuseHistograms[] classes;
    private final Exposure exposure = new Exposure(ReuseHistograms.TIMES, 0);

    /** Accesses ever. */
    private long clock;
    /** Of this period: accesses that were no reads, and reads that found no item. */
    private long writes;
    private long absent;
    /** Of this period: what the items took, at each access. */
    private long bytes;
    private double earlierReads;
    private double earlierPresent;
    private double earlierBytes;
    /** Where the walk over the table is, and how many slots it still has to look at. */
    private int walkedTo;
    private int walkLeft;
    /** The first wall-clock time that was told, to know how fast accesses come. */
    private long firstMillis = NEVER;

    /**
     * @param classes how many there are, 1 to 128
     * @param seed    of the draws
     */
    public ReuseRecorder(int classes, Sampling sampling, long seed) {
        if (classes < 1 || classes > MOST_CLASSES) {
            throw new IllegalArgumentException("There are 1 to " + MOST_CLASSES + " classes, not " + classes);
        }
        this.sampling = sampling;
        this.classes = new ReuseHistograms[classes];
        rate = new DrawRate(sampling, seed);
        draws = new Draws(rate.block(), ~seed);
        followed = new FollowedKeys(sampling.keys());
    }

    /**
     * A read of an item, which may be there or not: what a cache of more memory would hold counts.
     *
     * @param hash          of the key, 64 well mixed bits
     * @param itemBytes     what the item takes
     * @param expiresMillis when the item expires, or {@link #NEVER}
     * @param nowMillis     the time
     */
    public void read(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        count(1, 0, 0, itemBytes);
        end(hash, true, nowMillis);
        if (clock >= draws.next()) {
            drawRead(itemClass);
            draw(hash, itemClass, itemBytes, expiresMillis, nowMillis);
            draws.after(clock, rate.block());
        }
    }

    /** A read of a key that has no item, and of which nobody knows what item it would be: a write tells that later. */
    public void readOfNothing(long hash, int itemClass, long nowMillis) {
        count(1, 0, 1, 0);
        end(hash, true, nowMillis);
        if (clock >= draws.next()) {
            drawRead(itemClass);
            draws.after(clock, rate.block());
        }
    }

    /** A write, which leaves an item of this size. */
    public void write(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        count(1, 1, 0, itemBytes);
        end(hash, false, nowMillis);
        if (clock >= draws.next()) {
            draw(hash, itemClass, itemBytes, expiresMillis, nowMillis);
            draws.after(clock, rate.block());
        }
    }

    /** An item has gone: deleted, evicted before and deleted now, or expired. Not for what is evicted. */
    public void remove(long hash, long nowMillis) {
        int slot = followed.find(hash);
        if (slot >= 0) {
            goes(slot, waited(slot, nowMillis));
        }
    }

    /**
     * An item that is there is to expire at another time than when it was accessed last.
     *
     * @param expiresMillis when, or {@link #NEVER}
     */
    public void expires(long hash, long expiresMillis, long nowMillis) {
        int slot = followed.find(hash);
        if (slot >= 0) {
            if (nowMillis >= followed.deadline(slot)) {
                // What was accessed is gone; what is there now was made since, and not drawn.
                goes(slot, waited(slot, nowMillis));
            } else {
                followed.deadline(slot, expiresMillis);
            }
        }
    }

    /** All items have gone. */
    public void removeAll() {
        removeAll(0, 0, 0, followed.slots());
    }

    // --- the parts of which an access is made

    /**
     * Counts accesses.
     *
     * @param written   those of them that were no reads
     * @param ofNothing reads that found no item
     * @param itemBytes what the items took, at each access
     */
    void count(long accesses, long written, long ofNothing, long itemBytes) {
        clock += accesses;
        writes += written;
        absent += ofNothing;
        bytes += itemBytes;
    }

    /** Whether the next access to a key is waited for; {@link FollowedKeys#find} says what that is worth to another thread. */
    boolean follows(long hash) {
        return followed.find(hash) >= 0;
    }

    /** The wait for a key, if there is one, ends with an access to it, the last that was counted. */
    void end(long hash, boolean read, long nowMillis) {
        int slot = followed.find(hash);
        if (slot >= 0) {
            endAt(slot, read, nowMillis);
        }
    }

    /** The last access that was counted is drawn, and is a read. */
    void drawRead(int itemClass) {
        of(itemClass).addDrawnReads(rate.block(), clock);
    }

    private ReuseHistograms of(int itemClass) {
        ReuseHistograms histograms = classes[itemClass];
        if (histograms == null) {
            histograms = new ReuseHistograms(clock);
            classes[itemClass] = histograms;
        }
        return histograms;
    }

    /** So many reads were taken for those of a class, and belong to another: as is known when a write that fills what they have missed is drawn. */
    void moveDrawnReads(int from, int to, int reads) {
        // No more than there are: of what was told long ago a part is forgotten.
        double moved = Math.min(drawn(from).drawnReads, rate.block() * reads);
        if (moved > 0) {
            of(from).removeDrawnReads(moved, clock);
            of(to).addDrawnReads(moved, clock);
        }
    }

    /** The last access that was counted is drawn, and leaves an item whose key is not followed. */
    void draw(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        if (firstMillis == NEVER) {
            firstMillis = nowMillis;
        }
        ReuseHistograms histograms = of(itemClass);
        histograms.drawn += rate.block();
        histograms.drawnBytes += rate.block() * itemBytes;
        makeRoom();
        // Room is short only where a tiny table has been at the last of all rates for long.
        if (followed.hasRoom()) {
            followed.add(hash, clock, itemBytes, itemClass, expiresMillis, rate.level());
        }
    }

    /** Of how many accesses one is drawn at present. */
    double block() {
        return rate.block();
    }

    /** The wait for a key ends with an access to it. */
    private void endAt(int slot, boolean read, long nowMillis) {
        if (nowMillis >= followed.deadline(slot)) {
            goes(slot, waited(slot, nowMillis));
            return;
        }
        ReuseHistograms histograms = of(followed.itemClass(slot));
        long reuse = clock - followed.start(slot);
        if (read) {
            histograms.reads.add(reuse, rate.weight(followed.level(slot)));
        }
        countEnd(slot, histograms.accessed, reuse);
        followed.remove(slot);
    }

    private void goes(int slot, long waited) {
        countEnd(slot, of(followed.itemClass(slot)).gone, waited);
        followed.remove(slot);
    }

    private void countEnd(int slot, TimeHistogram ended, long accesses) {
        double weight = rate.weight(followed.level(slot));
        ended.add(accesses, weight * followed.bytes(slot));
        of(followed.itemClass(slot)).ended += weight;
    }

    /** For how many accesses an item has been there since the one that was drawn; less than have been since, if it has expired. */
    private long waited(int slot, long nowMillis) {
        long since = clock - followed.start(slot);
        long late = nowMillis - followed.deadline(slot);
        if (late <= 0 || nowMillis <= firstMillis) {
            return since;
        }
        double accessesAMilli = (double) clock / (nowMillis - firstMillis);
        return Math.max(0, since - Math.round(late * accessesAMilli));
    }

    /** Lowers the rate where too many keys are followed, and forgets some of them, a few slots at a time. */
    private void makeRoom() {
        int most = rate.lowest() ? followed.slots() / 4 * 3 : sampling.keys();
        if (walkLeft == 0 && followed.size() >= most) {
            rate.lower();
            walkLeft = followed.slots();
        }
        int left = Math.min(walkLeft, SLICE);
        walkLeft -= left;
        while (left > 0) {
            if (followed.used(walkedTo) && followed.level(walkedTo) < rate.level()) {
                if (!rate.keeps(followed.level(walkedTo))) {
                    followed.remove(walkedTo); // and looks at what has moved up
                    continue;
                }
                followed.level(walkedTo, rate.level());
            }
            walkedTo = walkedTo + 1 & followed.slots() - 1;
            left--;
        }
    }

    /**
     * Lets what was learnt so far count less, so that the curves follow a stream that changes. Takes time for each slot of the table; not for
     * the path of a request.
     *
     * @param keep its weight, 0 to 1
     */
    public void forget(double keep, long nowMillis) {
        requireShare(keep);
        forget(keep, waiting(nowMillis));
    }

    /**
     * Follows no key for longer than this from the access that was drawn, so that keys which never come again do not fill the table. What memory
     * would hold for longer is not known then: {@link #evictionTime} of the largest memory that matters, and some more, is a good choice. A class that comes slowly needs
     * longer to fill a memory of its own.
     *
     * @param accesses by class
     */
    public void giveUp(long[] accesses) {
        giveUp(accesses, 0, followed.slots());
    }

    /** The curve of all classes together, as if they shared one LRU stack. */
    public MissRatioCurve curve(long nowMillis) {
        return curve(waiting(nowMillis));
    }

    /** The curve of one class, which has memory of its own. */
    public MissRatioCurve curve(int itemClass, long nowMillis) {
        return curve(itemClass, waiting(nowMillis));
    }

    /**
     * The curve of one class, with memory of its own, as it is going to be if accesses come as before. {@link #curve(int, long)} tells of a stream that began with nothing, in
     * which the first read of a key misses; here a read tells nothing of times that are longer than its class had been there. Of a stream that is many times as long as items
     * stay both are the same.
     */
    public MissRatioCurve forecast(int itemClass, long nowMillis) {
        return forecast(itemClass, waiting(nowMillis));
    }

    /**
     * The average eviction time under LRU: for how many accesses an item stays after the last one to it, in a memory that all classes share.
     *
     * @return {@link Long#MAX_VALUE} if nothing was seen that would fill such a memory
     */
    public long evictionTime(double memoryBytes, long nowMillis) {
        return evictionTime(memoryBytes, waiting(nowMillis));
    }

    private Waiting[] waiting(long nowMillis) {
        Waiting[] waiting = Waiting.ofClasses(classes.length);
        settle(waiting, nowMillis, 0, followed.slots());
        return waiting;
    }

    // --- the same in parts: walks over some slots of the table, and what follows from them

    int slots() {
        return followed.slots();
    }

    /** Adds up what is waited for, by class; what has expired is waited for no more. */
    void settle(Waiting[] waiting, long nowMillis, int from, int to) {
        for (int slot = from; slot < to;) {
            if (!followed.used(slot)) {
                slot++;
            } else if (nowMillis >= followed.deadline(slot)) {
                goes(slot, waited(slot, nowMillis)); // and looks at what has moved up
            } else {
                waiting[followed.itemClass(slot)].add(rate.weight(followed.level(slot)), followed.bytes(slot),
                        clock - followed.start(slot));
                slot++;
            }
        }
    }

    void giveUp(long[] accesses, int from, int to) {
        for (int slot = from; slot < to;) {
            if (followed.used(slot) && clock - followed.start(slot) > accesses[followed.itemClass(slot)]) {
                countEnd(slot, of(followed.itemClass(slot)).accessed, Long.MAX_VALUE);
                followed.remove(slot); // and looks at what has moved up
            } else {
                slot++;
            }
        }
    }

    /** All items have gone whose hashes begin with these bits. */
    void removeAll(long prefix, int prefixBits, int from, int to) {
        for (int slot = from; slot < to;) {
            if (followed.used(slot) && followed.beginsWith(slot, prefix, prefixBits)) {
                goes(slot, clock - followed.start(slot)); // and looks at what has moved up
            } else {
                slot++;
            }
        }
    }

    static void requireShare(double keep) {
        if (!(keep >= 0 && keep <= 1)) {
            throw new IllegalArgumentException("What is kept is 0 to 1, not " + keep);
        }
    }

    /** @param waiting by class, for now */
    void forget(double keep, Waiting[] waiting) {
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms histograms = classes[i];
            if (histograms != null) {
                histograms.forget(keep, waiting[i], clock);
            }
        }
        earlierReads = keep * reads();
        earlierPresent = keep * present();
        earlierBytes = keep * presentBytes();
        writes = 0;
        absent = 0;
        bytes = 0;
        exposure.forget(keep, clock);
        rate.raise((double) sampling.keys() / 4 * 3 / Math.max(1, followed.size()));
    }

    MissRatioCurve curve(Waiting[] waiting) {
        return all(waiting).curve(reads() == 0 ? 0 : present() / reads());
    }

    MissRatioCurve curve(int itemClass, Waiting[] waiting) {
        return ends(itemClass, waiting).curve(accessesARead(itemClass));
    }

    /** What the curve of a class is going to be: {@link Ends#forecast}. */
    MissRatioCurve forecast(int itemClass, Waiting[] waiting) {
        int[] first = new int[classes.length];
        Arrays.fill(first, -1);
        first[itemClass] = itemClass;
        return forecast(itemClass, first, waiting);
    }

    /**
     * What the curve is going to be of several classes that share their memory, and were there for as long as the oldest of them.
     *
     * @param group which of them
     * @param first by class, the group that it is of
     */
    MissRatioCurve forecast(int group, int[] first, Waiting[] waiting) {
        ReuseHistograms oldest = NOTHING;
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms own = drawn(i);
            if (first[i] == group && own != NOTHING && (oldest == NOTHING || own.begun < oldest.begun)) {
                oldest = own;
            }
        }
        Ends ends = new Ends();
        double[] readsAtAge = new double[ReuseHistograms.AGES.buckets()];
        double accesses = 0;
        double reads = 0;
        double allBytes = 0;
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms own = drawn(i);
            if (first[i] == group && own != NOTHING) {
                ends.add(own, waiting[i]);
                own.addReadsAtAge(readsAtAge, oldest.begun);
                accesses += own.drawn;
                reads += own.drawnReads;
                allBytes += own.drawnBytes;
            }
        }
        ends.sink(oldest.exposure, clock, allBytes);
        return ends.forecast(reads == 0 ? 0 : accesses / reads, readsAtAge, clock - oldest.begun);
    }

    private Ends ends(int itemClass, Waiting[] waiting) {
        ReuseHistograms histograms = drawn(itemClass);
        Ends ends = new Ends();
        ends.add(histograms, waiting[itemClass]);
        ends.sink(histograms.exposure, clock, histograms.drawnBytes);
        return ends;
    }

    private double accessesARead(int itemClass) {
        ReuseHistograms histograms = drawn(itemClass);
        return histograms.drawnReads == 0 ? 0 : histograms.drawn / histograms.drawnReads;
    }

    private ReuseHistograms drawn(int itemClass) {
        ReuseHistograms histograms = classes[itemClass];
        return histograms == null ? NOTHING : histograms;
    }

    long evictionTime(double memoryBytes, Waiting[] waiting) {
        return all(waiting).evictionTime(memoryBytes);
    }

    /** The average eviction time of one class that has a memory of its own; {@link Long#MAX_VALUE} if it would not fill it. */
    long evictionTime(int itemClass, double memoryBytes, Waiting[] waiting) {
        return ends(itemClass, waiting).evictionTime(memoryBytes);
    }

    private Ends all(Waiting[] waiting) {
        Ends ends = new Ends();
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms histograms = classes[i];
            if (histograms != null) {
                ends.add(histograms, waiting[i]);
            }
        }
        // How many bytes were accessed in all is known: it puts right what chance did to the sample.
        ends.sink(exposure, clock, presentBytes());
        return ends;
    }

    // --- facts

    /** Accesses ever. */
    public long accesses() {
        return clock;
    }

    /**
     * What it takes in memory, whatever the number of keys; more with each class of which something was drawn for the first time, and with longer reuse times than there were
     * before.
     */
    public long bytes() {
        long bytes = followed.bytes() + Exposure.bytes(ReuseHistograms.TIMES);
        for (ReuseHistograms histograms : classes) {
            bytes += histograms == null ? 0 : histograms.bytes();
        }
        return bytes;
    }

    int classes() {
        return classes.length;
    }

    /** Every violated invariant. For tests, of a recorder that has forgotten nothing and whose rate has not changed. */
    List<String> checkIntegrity() {
        List<String> problems = new ArrayList<>();
        followed.check(problems::add);
        Waiting[] waiting = Waiting.ofClasses(classes.length);
        settle(waiting, Long.MIN_VALUE, 0, followed.slots());
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms histograms = classes[i];
            double known = waiting[i].weight() + (histograms == null ? 0 : histograms.ended);
            double drawn = histograms == null ? 0 : histograms.drawn;
            if (Math.abs(known - drawn) > 0.5) {
                problems.add("of class " + i + " " + drawn + " accesses are drawn, and of " + known
                        + " it is known what becomes of them");
            }
        }
        return problems;
    }

    /** Reads; what was forgotten in part counts in part. */
    public double reads() {
        return earlierReads + exposure.period(clock) - writes;
    }

    /** Accesses after which an item is there. */
    private double present() {
        return earlierPresent + exposure.period(clock) - absent;
    }

    /** What these items took, together. */
    private double presentBytes() {
        return earlierBytes + bytes;
    }

    /** The share of accesses that is drawn at present. */
    public double rate() {
        return 1 / rate.weight(rate.level());
    }

    /** Keys that are followed at present. */
    public int followedKeys() {
        return followed.size();
    }
}
