package io.varve.server.geo;

/**
 * Geohashes of 52 bits: longitude and latitude with interleaved bits, so that near places have near numbers. Immutable:
 * static methods only. This is the geohash that G. Niemeyer published in 2008, in binary form.
 *
 * <p>Longitude and latitude are divided into 2 to the {@code step} stripes each. The odd bits hold the number of the
 * longitude stripe, the even bits that of the latitude stripe. Latitudes reach as far as the square web map
 * (EPSG:900913). The score of a sorted set's member is a geohash with 26 steps. Any other score is converted to bits as
 * C converts it.
 */
public final class GeoHash {
    public static final double MIN_LONGITUDE = -180;
    public static final double MAX_LONGITUDE = 180;
    public static final double MIN_LATITUDE = -85.05112878;
    public static final double MAX_LATITUDE = 85.05112878;
    /** Number of bisections in a score. */
    public static final int MAX_STEPS = 26;

    private static final String ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz";
    private static final int LETTER_BITS = 5;
    private static final int TEXT_LETTERS = 11;
    private static final long EVEN_BITS = 0x5555_5555_5555_5555L;
    private static final double STANDARD_LATITUDE = 90;
    private static final long WHOLE_INT = 0xFFFF_FFFFL;

    private GeoHash() {}

    public static boolean isOnTheMap(double longitude, double latitude) {
        return longitude >= MIN_LONGITUDE && longitude <= MAX_LONGITUDE && latitude >= MIN_LATITUDE
                && latitude <= MAX_LATITUDE;
    }

    // --- to a number

    /** The number of the grid cell that contains the place. */
    public static long encode(double longitude, double latitude, int step) {
        return encode(longitude, latitude, MIN_LATITUDE, MAX_LATITUDE, step);
    }

    private static long encode(double longitude, double latitude, double minLatitude, double maxLatitude,
            int step) {
        double latitudePart = (latitude - minLatitude) / (maxLatitude - minLatitude);
        double longitudePart = (longitude - MIN_LONGITUDE) / (MAX_LONGITUDE - MIN_LONGITUDE);
        return interleaved((long) (latitudePart * (1L << step)), (long) (longitudePart * (1L << step)));
    }

    /**
     * Interleaves the bits of two 32-bit numbers: those of the first become the even ones, those of the second the odd
     * ones.
     */
    static long interleaved(long even, long odd) {
        return spread(even & WHOLE_INT) | spread(odd & WHOLE_INT) << 1;
    }

    private static long spread(long bits) {
        return Long.expand(bits, EVEN_BITS);
    }

    static long evenBits(long bits) {
        return Long.compress(bits, EVEN_BITS);
    }

    static long oddBits(long bits) {
        return Long.compress(bits >>> 1, EVEN_BITS);
    }

    // --- from a number

    /** The bits that result when C converts a score to an unsigned 64-bit integer. */
    public static long bitsOf(double score) {
        return score >= 0x1p63 ? integerOf(score - 0x1p63) ^ Long.MIN_VALUE : integerOf(score);
    }

    /** The result when C converts a score to a signed integer: the least one if it is out of range. */
    public static long integerOf(double value) {
        return value >= -0x1p63 && value < 0x1p63 ? (long) value : Long.MIN_VALUE;
    }

    /** The longitude of the cell's centre. */
    public static double longitude(long bits) {
        double middle = (longitudeFrom(bits, MAX_STEPS) + longitudeTo(bits, MAX_STEPS)) / 2;
        return Math.max(MIN_LONGITUDE, Math.min(MAX_LONGITUDE, middle));
    }

    /** The latitude of the cell's centre. */
    public static double latitude(long bits) {
        double middle = (latitudeFrom(bits, MAX_STEPS) + latitudeTo(bits, MAX_STEPS)) / 2;
        return Math.max(MIN_LATITUDE, Math.min(MAX_LATITUDE, middle));
    }

    static double longitudeFrom(long bits, int step) {
        return border(oddBits(bits), step, MIN_LONGITUDE, MAX_LONGITUDE);
    }

    static double longitudeTo(long bits, int step) {
        return border(oddBits(bits) + 1 & WHOLE_INT, step, MIN_LONGITUDE, MAX_LONGITUDE);
    }

    static double latitudeFrom(long bits, int step) {
        return border(evenBits(bits), step, MIN_LATITUDE, MAX_LATITUDE);
    }

    static double latitudeTo(long bits, int step) {
        return border(evenBits(bits) + 1 & WHOLE_INT, step, MIN_LATITUDE, MAX_LATITUDE);
    }

    private static double border(long stripe, int step, double min, double max) {
        return min + (double) stripe / (1L << step) * (max - min);
    }

    // --- as text

    /** The eleven letters of the published geohash, whose latitudes reach the poles; the last one is always 0. */
    public static String text(long bits) {
        long standard = encode(longitude(bits), latitude(bits), -STANDARD_LATITUDE, STANDARD_LATITUDE, MAX_STEPS);
        StringBuilder text = new StringBuilder(TEXT_LETTERS);
        for (int shift = 2 * MAX_STEPS - LETTER_BITS; shift >= 0; shift -= LETTER_BITS) {
            text.append(ALPHABET.charAt((int) (standard >>> shift) & (1 << LETTER_BITS) - 1));
        }
        return text.append(ALPHABET.charAt(0)).toString();
    }
}
