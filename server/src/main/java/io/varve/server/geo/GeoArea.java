package io.varve.server.geo;

/**
 * The area of a geo search: a circle or a rectangle around a place. Immutable.
 *
 * @param longitude longitude of the centre, degrees
 * @param latitude latitude of the centre, degrees
 * @param radius radius of a circle, in units; ignored for a rectangle
 * @param width width of a rectangle from west to east, in units
 * @param height height of a rectangle, in units; negative for a circle
 * @param unit length of a unit, metres
 */
public record GeoArea(double longitude, double latitude, double radius, double width, double height, double unit) {
    private static final double NOT_A_RECTANGLE = -1;

    public static GeoArea circle(double longitude, double latitude, double radius, double unit) {
        return new GeoArea(longitude, latitude, radius, 0, NOT_A_RECTANGLE, unit);
    }

    public static GeoArea rectangle(double longitude, double latitude, double width, double height, double unit) {
        return new GeoArea(longitude, latitude, 0, width, height, unit);
    }

    private boolean isCircle() {
        return height < 0;
    }

    /** Distance of a place from the centre, metres; NaN if it is outside. */
    public double distanceInside(double toLongitude, double toLatitude) {
        if (isCircle()) {
            double distance = GeoDistance.metres(longitude, latitude, toLongitude, toLatitude);
            return distance > radius * unit ? Double.NaN : distance;
        }
        if (GeoDistance.metresNorth(toLatitude, latitude) > height * unit / 2
                || GeoDistance.metres(toLongitude, toLatitude, longitude, toLatitude) > width * unit / 2) {
            return Double.NaN;
        }
        return GeoDistance.metres(longitude, latitude, toLongitude, toLatitude);
    }

    /** Maximum distance from the centre in any direction, metres. */
    double reach() {
        return isCircle() ? radius * unit : Math.sqrt(width / 2 * (width / 2) + height / 2 * (height / 2)) * unit;
    }

    private double latitudeReach() {
        return GeoDistance.degrees(unit * (isCircle() ? radius : height / 2) / GeoDistance.EARTH_RADIUS);
    }

    /** Half the width in degrees of longitude, on the side of the bounding rectangle that is nearer to the pole. */
    private double longitudeReach() {
        double side = latitude < 0 ? latitude - latitudeReach() : latitude + latitudeReach();
        return GeoDistance.degrees(unit * (isCircle() ? radius : width / 2) / GeoDistance.EARTH_RADIUS
                / Math.cos(GeoDistance.radians(side)));
    }

    double minLatitude() {
        return latitude - latitudeReach();
    }

    double maxLatitude() {
        return latitude + latitudeReach();
    }

    double minLongitude() {
        return longitude - longitudeReach();
    }

    double maxLongitude() {
        return longitude + longitudeReach();
    }
}
