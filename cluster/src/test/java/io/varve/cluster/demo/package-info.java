/** Tests of the tour through a cluster. */
@org.jspecify.annotations.NullMarked
package io.varve.cluster.demo;
