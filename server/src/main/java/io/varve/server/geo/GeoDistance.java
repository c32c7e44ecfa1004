package io.varve.server.geo;

/** Distances on the earth as a sphere, by the haversine formula. Immutable: static methods only. */
public final class GeoDistance {
    /** The radius of the earth in Redis, metres. */
    static final double EARTH_RADIUS = 6372797.560856;
    private static final double RADIANS_PER_DEGREE = Math.PI / 180;

    private GeoDistance() {}

    static double radians(double degrees) {
        return degrees * RADIANS_PER_DEGREE;
    }

    static double degrees(double radians) {
        return radians / RADIANS_PER_DEGREE;
    }

    /** Distance between two places, metres. */
    public static double metres(double longitude, double latitude, double otherLongitude, double otherLatitude) {
        double v = Math.sin((radians(otherLongitude) - radians(longitude)) / 2);
        if (v == 0) {
            return metresNorth(latitude, otherLatitude);
        }
        double here = radians(latitude);
        double there = radians(otherLatitude);
        double u = Math.sin((there - here) / 2);
        double a = u * u + Math.cos(here) * Math.cos(there) * v * v;
        // For antipodal places the sum may round to more than one, which is not a sine.
        return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(Math.min(1, a)));
    }

    /** Distance between two latitudes, metres. */
    static double metresNorth(double latitude, double otherLatitude) {
        return EARTH_RADIUS * Math.abs(radians(otherLatitude) - radians(latitude));
    }
}
