/** The run that compares clients of a small cluster's members with clients of a proxy. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.proxy;
