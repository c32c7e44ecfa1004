package io.varve.server.geo;

/**
 * What a search is about: a circle or a rectangle around a place. Immutable.
 *
 * @param longitude of the middle, degrees
 * @param latitude  of the middle, degrees
 * @param radius    of a circle, in units; of a rectangle it means nothing
 * @param width     of a rectangle, in units, from west to east
 * @param height    of a rectangle, in units; negative for a circle
 * @param unit      metres of a unit
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

    /** How far a place is from the middle, metres; NaN if it is outside. */
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

    /** How far it reaches in any direction, metres. */
    double reach() {
        return isCircle() ? radius * unit : Math.sqrt(width / 2 * (width / 2) + height / 2 * (height / 2)) * unit;
    }

    private double latitudeReach() {
        return GeoDistance.degrees(unit * (isCircle() ? radius : height / 2) / GeoDistance.EARTH_RADIUS);
    }

    /** Degrees of longitude on the side of the rectangle around it that is nearer to the pole. */
    private double longitudeReach() {
        double side = latitude < 0 ? latitude - latitudeReach() : latitude + latitudeReach();
        return GeoDistance.degrees(unit * (isCircle() ? radius : width / 2) / GeoDistance.EARTH_RADIUS
                / Math.cos(GeoDistance.radians(side)));
    }

    double leastLatitude() {
        return latitude - latitudeReach();
    }

    double mostLatitude() {
        return latitude + latitudeReach();
    }

    double leastLongitude() {
        return longitude - longitudeReach();
    }

    double mostLongitude() {
        return longitude + longitudeReach();
    }
}
