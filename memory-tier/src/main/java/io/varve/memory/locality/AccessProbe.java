package io.varve.memory.locality;

/**
 * How one thread tells an {@link AccessRecorder} of its accesses. Confined to that thread.
 *
 * <p>An access is told of in two steps. The first counts it, and says whether there is more to do: a number counted up and compared, and a bit of the item that its owner has
 * before it anyway. The second is for one access in a dozen or so: it notes what the item takes, and tells the recorder of it if it is drawn, or if its key is followed.
 *
 * <p>Who has items keeps a bit with each: it is set for every item whose key is {@link AccessRecorder#follows followed}, and may be set for others. What the second step
 * answers is the bit from then on. An item that is made for a key has the bit of the item whose place it takes, or else {@link AccessRecorder#follows} tells it.
 */
public final class AccessProbe {
    /** What has been counted and not been told. */
    static final class Counted {
        long accesses;
        long writes;
        long ofNothing;
        long bytes;
    }

    /** How far two accesses are apart whose items are weighed: from 1 to this less 1, an even 16 on average. */
    private static final int WEIGHED = 32;
    private static final int WEIGHED_BITS = Integer.numberOfTrailingZeros(WEIGHED);
    private static final long RANDOM_FACTOR = 0x5851_F42D_4C95_7F2DL;
    private static final long RANDOM_TERM = 0x1405_7B7E_F767_814FL;

    private final AccessRecorder recorder;
    private final Draws draws;
    private final Counted counted = new Counted();
    /** Accesses told ever, and how many more until one is drawn. */
    private long told;
    private long untilDrawn;
    /** The access that was weighed last, and the next one, in accesses that were not told. */
    private long weighed;
    private long untilWeighed;
    /** The nearer of both. */
    private long until;
    private long random;
    private double block;

    AccessProbe(AccessRecorder recorder, long seed, double block) {
        this.recorder = recorder;
        this.block = block;
        draws = new Draws(block, seed);
        random = seed;
        untilDrawn = draws.next();
        untilWeighed = apart();
        until = Math.min(untilDrawn, untilWeighed);
    }

    /**
     * Counts a read that found an item.
     *
     * @param followed the item's bit
     * @return whether {@link #read} is to be told of it
     */
    public boolean countRead(boolean followed) {
        return ++counted.accesses >= until || followed;
    }

    /** Counts a write, which leaves an item with this bit. @return whether {@link #write} is to be told of it */
    public boolean countWrite(boolean followed) {
        counted.writes++;
        return ++counted.accesses >= until || followed;
    }

    /** Counts a read that found nothing. @return whether {@link #readOfNothing} is to be told of it */
    public boolean countReadOfNothing(long hash) {
        counted.ofNothing++;
        return ++counted.accesses >= until || recorder.follows(hash);
    }

    /**
     * The read that was counted last.
     *
     * @param itemBytes     what the item takes
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     * @param followed      the item's bit
     * @return the bit from now on
     */
    public boolean read(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis,
            boolean followed) {
        return tell(true, true, hash, itemClass, itemBytes, expiresMillis, nowMillis, followed);
    }

    /**
     * The write that was counted last.
     *
     * @param itemBytes     what the item takes
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     * @param followed      the item's bit
     * @return the bit from now on
     */
    public boolean write(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis,
            boolean followed) {
        return tell(false, true, hash, itemClass, itemBytes, expiresMillis, nowMillis, followed);
    }

    /**
     * The write that was counted last, of which {@link #write} is told next, has filled what some reads of nothing were for. Writes are drawn as often as
     * reads: so for as many reads as were told of a wrong class, it is put right.
     *
     * @param from   of which those reads were told
     * @param to     the class of the item
     * @param misses how many they were
     */
    public void moveMisses(int from, int to, int misses) {
        if (counted.accesses >= untilDrawn) {
            recorder.moveDrawnReads(from, to, misses);
        }
    }

    /** The read of nothing that was counted last. */
    public void readOfNothing(long hash, int itemClass, long nowMillis) {
        tell(true, false, hash, itemClass, 0, ReuseRecorder.NEVER, nowMillis, true);
    }

    private boolean tell(boolean read, boolean item, long hash, int itemClass, long itemBytes, long expiresMillis,
            long nowMillis, boolean followed) {
        long accesses = counted.accesses;
        if (accesses >= untilWeighed) {
            // It stands for all since the one before it: how many they are has nothing to do with what it is.
            counted.bytes += (accesses - weighed) * itemBytes;
            weighed = accesses;
            untilWeighed = accesses + apart();
        }
        boolean isDrawn = accesses >= untilDrawn;
        if (isDrawn || followed) {
            block = recorder.tell(counted, isDrawn, read, item, hash, itemClass, itemBytes, expiresMillis, nowMillis);
            told += accesses;
            if (isDrawn) {
                draws.after(told, block);
            }
            untilDrawn = draws.next() - told;
            weighed -= accesses;
            untilWeighed -= accesses;
            counted.accesses = 0;
            counted.writes = 0;
            counted.ofNothing = 0;
            counted.bytes = 0;
        }
        until = Math.min(untilDrawn, untilWeighed);
        return isDrawn;
    }

    /** By a linear congruence, whose high bits are good enough for this. */
    private long apart() {
        random = random * RANDOM_FACTOR + RANDOM_TERM;
        return Math.max(1, random >>> Long.SIZE - WEIGHED_BITS);
    }
}
