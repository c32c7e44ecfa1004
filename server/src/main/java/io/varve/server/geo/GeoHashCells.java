package io.varve.server.geo;

/**
 * The grid cells that cover an area: the cell of its centre and those around it, as far as they are needed, in Redis's
 * search order. Immutable.
 *
 * <p>The step is chosen so that a cell is about as wide as the area's reach. Each cell is a range of scores.
 */
public final class GeoHashCells {
    /** Half the equator on the square web map, metres. */
    private static final double HALF_MAP = 20037726.37;
    private static final int SCORE_BITS = 2 * GeoHash.MAX_STEPS;
    /** Above these latitudes cells are so narrow that larger ones are used. */
    private static final double NARROW_LATITUDE = 66;
    private static final double VERY_NARROW_LATITUDE = 80;
    /** Cell offsets east and north of the centre: itself, the four sides, the four corners. */
    private static final int[] EAST = {0, 0, 0, 1, -1, 1, -1, 1, -1};
    private static final int[] NORTH = {0, 1, -1, 0, 0, 1, 1, -1, -1};

    private final int step;
    private final long[] squares = new long[EAST.length];
    private final int count;

    /** @param area the area to cover */
    public GeoHashCells(GeoArea area) {
        int steps = steps(area.reach(), area.latitude());
        if (steps > 1 && !isCovered(area, steps)) {
            steps--;
        }
        step = steps;
        long middle = GeoHash.encode(area.longitude(), area.latitude(), steps);
        boolean north = steps < 2 || GeoHash.latitudeTo(middle, steps) <= area.maxLatitude();
        boolean south = steps < 2 || GeoHash.latitudeFrom(middle, steps) >= area.minLatitude();
        boolean east = steps < 2 || GeoHash.longitudeTo(middle, steps) <= area.maxLongitude();
        boolean west = steps < 2 || GeoHash.longitudeFrom(middle, steps) >= area.minLongitude();
        int found = 0;
        int last = 0;
        for (int i = 0; i < EAST.length; i++) {
            boolean needed = (EAST[i] <= 0 || east) && (EAST[i] >= 0 || west) && (NORTH[i] <= 0 || north)
                    && (NORTH[i] >= 0 || south);
            long square = neighbour(middle, EAST[i], NORTH[i], steps);
            // If the cells are very large, those on two sides coincide.
            if (needed && (last == 0 || square != squares[found - 1])) {
                squares[found++] = square;
                last = i;
            }
        }
        count = found;
    }

    private static int steps(double reach, double latitude) {
        if (reach == 0) {
            return GeoHash.MAX_STEPS;
        }
        int steps = 1;
        for (double doubled = reach; doubled < HALF_MAP; doubled *= 2) {
            steps++;
        }
        steps -= 2;
        double fromEquator = Math.abs(latitude);
        if (fromEquator > NARROW_LATITUDE) {
            steps -= fromEquator > VERY_NARROW_LATITUDE ? 2 : 1;
        }
        return Math.max(1, Math.min(GeoHash.MAX_STEPS, steps));
    }

    /** Whether the cells around the centre reach as far as the area in all four directions. */
    private static boolean isCovered(GeoArea area, int steps) {
        long middle = GeoHash.encode(area.longitude(), area.latitude(), steps);
        return GeoHash.latitudeTo(neighbour(middle, 0, 1, steps), steps) >= area.maxLatitude()
                && GeoHash.latitudeFrom(neighbour(middle, 0, -1, steps), steps) <= area.minLatitude()
                && GeoHash.longitudeTo(neighbour(middle, 1, 0, steps), steps) >= area.maxLongitude()
                && GeoHash.longitudeFrom(neighbour(middle, -1, 0, steps), steps) <= area.minLongitude();
    }

    /** The cell at an offset; the map wraps around in both directions. */
    private static long neighbour(long square, int east, int north, int steps) {
        long mask = (1L << steps) - 1;
        long latitude = GeoHash.evenBits(square);
        long longitude = GeoHash.oddBits(square);
        return GeoHash.interleaved(north == 0 ? latitude : latitude + north & mask,
                east == 0 ? longitude : longitude + east & mask);
    }

    public int count() {
        return count;
    }

    /** The least score in a cell. */
    public double minScore(int square) {
        return (double) (squares[square] << SCORE_BITS - 2 * step);
    }

    /** The least score after a cell. */
    public double scoreBehind(int square) {
        return (double) (squares[square] + 1 << SCORE_BITS - 2 * step);
    }
}
